/** TRL in a process of its own, one optimizer step at a time. */
import { startPeer } from './peer-process.ts';

export interface StepTime {
  readonly seconds: number;
  readonly tokens: number;
}

export interface TrlProcess {
  readonly versions: Readonly<Record<string, string>>;
  /** Runs one step and gives its time as the trainer measures it. */
  step(): Promise<StepTime>;
  close(): void;
}

/** @throws MissingError if the Python cannot run TRL */
export async function startTrl(
  python: string,
  script: string,
  args: readonly string[],
): Promise<TrlProcess> {
  const peer = await startPeer(python, script, args, 'torch, transformers, trl and datasets');
  return {
    versions: peer.ready.versions as Record<string, string>,
    step: async () => (await peer.ask('go')) as unknown as StepTime,
    close: () => peer.close(),
  };
}
