/** The `saccade` command line. */
import { CommanderError } from 'commander';
import { explainError } from './explain-error.ts';
import { openProgram } from './program.ts';

/** Runs one command; errors become one message and an exit code: 2 for usage, 1 for the rest. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = openProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version end with 0; what could not be parsed has been said already.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    const { message, exitCode, isKnown } = explainError(error);
    console.error(`error: ${message}`);
    const isVerbose = program.opts<{ verbose?: boolean }>().verbose === true;
    if (isVerbose || !isKnown) console.error(error);
    process.exitCode = exitCode;
  }
}
