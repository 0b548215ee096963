/** One line on the terminal about what is being measured; in a pipe, one from time to time. */

/** Milliseconds between two lines in a pipe: enough to see that a long table is under way. */
const PIPE_PACE = 30_000;
let saidAt: number | undefined;

/** Replaces the line by another; '' takes it away. */
export function showProgress(line: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\u001b[2K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
    return;
  }
  const now = performance.now();
  // A run of a few measurements stays quiet.
  saidAt ??= now;
  if (line === '' || now - saidAt < PIPE_PACE) return;
  saidAt = now;
  process.stderr.write(`${line}\n`);
}
