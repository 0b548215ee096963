/** One line on the terminal about what is being measured; nothing where no one looks. */

/** Replaces the line by another; '' takes it away. */
export function showProgress(line: string): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\u001b[2K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
}
