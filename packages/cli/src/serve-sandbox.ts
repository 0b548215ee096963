/** `saccade serve sandbox`: runs code for other machines and other trainers. */
import { defaultLimits, type LocalTier, openSandbox, type SandboxOptions } from '@saccade/sandbox';
import { openSandboxService } from '@saccade/sandbox/service';
import { expectAccessFor, type ListenFlags, listen } from './listen.ts';
import { openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ServeSandboxFlags extends ListenFlags {
  readonly isolation: LocalTier | 'auto';
  readonly unsafe?: boolean;
  readonly wallSeconds: number;
  readonly memoryMib: number;
  readonly sessionMemoryMib?: number;
  readonly outputKib: number;
  readonly maxSessions: number;
  readonly maxRunning: number;
  readonly maxQueued: number;
  readonly servers: number;
  readonly idleSeconds: number;
  readonly maxMib: number;
}

const mebibyte = 2 ** 20;

export async function serveSandbox(flags: ServeSandboxFlags): Promise<void> {
  expectAccessFor(flags);
  const onEvent = terminalProgress({ stream: process.stderr });
  const { isolation, maxSessions, maxRunning, maxQueued, servers, wallSeconds } = flags;
  const options: SandboxOptions = {
    python: await openPython(onEvent),
    ...{ isolation, maxSessions, maxRunning, maxQueued, servers, onEvent },
    ...(flags.unsafe === true && { unsafe: true }),
    limits: {
      wallSeconds,
      cpuSeconds: Math.max(wallSeconds, defaultLimits.cpuSeconds),
      memoryBytes: flags.memoryMib * mebibyte,
      ...(flags.sessionMemoryMib !== undefined && {
        sessionMemoryBytes: flags.sessionMemoryMib * mebibyte,
      }),
      outputBytes: flags.outputKib * 1024,
    },
  };
  await listen(
    flags,
    async (listening) => {
      const sandbox = await openSandbox(options);
      try {
        const { idleSeconds } = flags;
        const maxBytes = flags.maxMib * mebibyte;
        const service = await openSandboxService({
          ...{ sandbox, idleSeconds, maxBytes, onError: console.error },
          ...listening,
        });
        return { ...service, tier: sandbox.tier };
      } catch (error) {
        await sandbox.dispose();
        throw error;
      }
    },
    ({ url, tier }) => `Sandbox at ${url} (${tier})`,
  );
}
