/** TRL in a process of its own, one optimizer step at a time. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { MissingError } from '@saccade/core';

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
  const child: ChildProcessWithoutNullStreams = spawn(python, [script, ...args]);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> => {
    const line = await lines.next();
    if (line.done === true) {
      throw new MissingError(
        `${python} could not run TRL. Install torch, transformers, trl and datasets there. It said:\n${errors}`,
      );
    }
    return JSON.parse(line.value) as Record<string, unknown>;
  };
  const ready = await next();
  return {
    versions: ready.versions as Record<string, string>,
    async step() {
      child.stdin.write('go\n');
      return (await next()) as unknown as StepTime;
    },
    close() {
      child.stdin.write('quit\n');
      child.stdin.end();
    },
  };
}
