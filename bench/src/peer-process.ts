/** Another system in a Python process of its own that answers each line with a line of JSON. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { MissingError } from '@saccade/core';

export type Answer = Readonly<Record<string, unknown>>;

export interface PeerProcess {
  /** What it says when it is ready. */
  readonly ready: Answer;
  ask(line: string): Promise<Answer>;
  close(): void;
}

/**
 * @param needs  what to install where it cannot run, in words
 * @throws MissingError if the Python cannot run the script
 */
export async function startPeer(
  python: string,
  script: string,
  args: readonly string[],
  needs: string,
): Promise<PeerProcess> {
  const child: ChildProcessWithoutNullStreams = spawn(python, [script, ...args]);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Answer> => {
    const line = await lines.next();
    if (line.done === true) {
      throw new MissingError(
        `${python} could not run ${script}. Install ${needs} there. It said:\n${errors}`,
      );
    }
    return JSON.parse(line.value) as Answer;
  };
  return {
    ready: await next(),
    ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    close() {
      child.stdin.write('quit\n');
      child.stdin.end();
    },
  };
}
