/** One sandbox for all runs of a test file: each of its own would be attacked anew before it is used. */
import { fileURLToPath } from 'node:url';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { openSandboxService } from '@saccade/sandbox/service';

const environment = fileURLToPath(new URL('../../../.cache/sandbox-venv', import.meta.url));

export interface SharedSandbox {
  /** What a run is told to use it. */
  readonly settings: readonly string[];
  close(): Promise<void>;
}

/** It answers from this process, which must not wait for a child synchronously. */
export async function openSharedSandbox(): Promise<SharedSandbox> {
  const { python } = await ensurePython(environment);
  const service = await openSandboxService({ sandbox: await openSandbox({ python }) });
  return {
    settings: ['sandbox=remote', `sandbox.hosts=${service.url}`],
    close: () => service.drain(),
  };
}
