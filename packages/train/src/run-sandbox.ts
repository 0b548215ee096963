/** The sandbox of a run: this machine's, or that of the servers its configuration names. */
import type { EventSink } from '@saccade/core';
import { openRemoteSandbox, openSandbox, type Sandbox } from '@saccade/sandbox';
import type { RolloutConfig } from './config.ts';

/**
 * @throws SandboxError if none of the servers answers, ConfigError for what is no address, and what
 *   `openSandbox` throws
 */
export async function openRunSandbox(
  rollout: RolloutConfig,
  python: string,
  onEvent: EventSink,
): Promise<Sandbox> {
  const wallSeconds = rollout.sandboxWallSeconds;
  if (rollout.sandboxHosts === 'none') {
    return await openSandbox({
      python,
      onEvent,
      // An evaluation beside rollouts that wait with their sessions open needs as many again.
      maxSessions: 2 * rollout.concurrency,
      limits: { wallSeconds },
      unsafe: rollout.unsafeSandbox,
    });
  }
  const hosts = rollout.sandboxHosts.split(',').map((host) => host.trim());
  const token = process.env[rollout.sandboxTokenVariable];
  return await openRemoteSandbox({ hosts, wallSeconds, ...(token && { token }) });
}
