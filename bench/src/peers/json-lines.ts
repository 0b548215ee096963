/** A child process that answers each JSON line with one: how a Python peer is driven. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { MissingError } from '@saccade/core';

export type Answer = Readonly<Record<string, unknown>>;

export interface JsonLinesProcess {
  /** The first answer of the process. */
  readonly ready: Answer;
  ask(question: Answer): Promise<Answer>;
  /** Whether it answers no more. */
  hasEnded(): boolean;
  /** Closes its input, which ends it, and waits. */
  close(): Promise<void>;
}

/**
 * Starts the process and waits for its first line.
 *
 * @param needs         what must be installed there, for the error message
 * @param limitSeconds  for an answer; a process that takes longer is ended
 * @throws MissingError if it ends instead of answering, with what it said
 */
export async function startJsonLines(
  command: string,
  args: readonly string[],
  needs: string,
  limitSeconds?: number,
): Promise<JsonLinesProcess> {
  // In a group of its own: Ctrl-C in a terminal is for us, who then end it by closing its input.
  const child: ChildProcessWithoutNullStreams = spawn(command, args, { detached: true });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000);
  });
  child.on('error', (error) => {
    errors += error.message;
  });
  // A write to a process that has ended; its end is reported by the next line that is missing.
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Answer> => {
    let isLate = false;
    const end = (): void => {
      isLate = true;
      child.kill('SIGKILL');
    };
    const timer = limitSeconds === undefined ? undefined : setTimeout(end, 1000 * limitSeconds);
    const line = await lines.next();
    clearTimeout(timer);
    if (isLate) errors += `\nNo answer came in ${limitSeconds} seconds.`;
    if (line.done === true) {
      await ended;
      throw new MissingError(
        `${[command, ...args].join(' ')} ended without an answer. ` +
          `It needs ${needs}. It said:\n${errors.trim()}`,
      );
    }
    return JSON.parse(line.value) as Answer;
  };
  return {
    ready: await next(),
    async ask(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return await next();
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
