/** The `saccade` command line. */
import { ConfigError, nearestName } from '@saccade/core';
import { type Command, CommanderError } from 'commander';
import { explainError } from './explain-error.ts';
import { openProgram } from './program.ts';
import { columnsOf, foldLines } from './say.ts';

/** Runs one command; errors become one message and an exit code: 2 for usage, 1 for the rest. */
export async function main(argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.off('error', ignoreClosedPipe).on('error', ignoreClosedPipe);
  }
  const words = argv.slice(2);
  const program = await openProgram(words);
  try {
    await expectCommand(program, words);
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version end with 0; what could not be parsed has been said already.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    const { message, exitCode, isKnown } = explainError(error);
    console.error(foldLines(`error: ${message}`, columnsOf(process.stderr)));
    const isVerbose = program.opts<{ verbose?: boolean }>().verbose === true;
    if (isVerbose || !isKnown) console.error(error);
    process.exitCode = exitCode;
  }
}

/** With `| head` the reader is soon gone. A run goes on without one. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/**
 * Recipes are often written where a command belongs, and help is asked for what is none.
 *
 * @throws ConfigError with the command that was meant
 */
async function expectCommand(program: Command, words: readonly string[]): Promise<void> {
  const [first = '', second] = words.filter((word) => !word.startsWith('-'));
  const known = program.commands.map((command) => command.name());
  if (!known.includes(first) && (await isRecipe(first))) {
    throw new ConfigError(
      'command',
      `"${first}" is a recipe. Train it with: saccade train ${words.join(' ')}`,
    );
  }
  if (first !== 'help' || second === undefined || known.includes(second)) return;
  const near = nearestName(second, known);
  const remedy = near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`;
  throw new ConfigError('command', `There is no command "${second}". ${remedy}`);
}

async function isRecipe(word: string): Promise<boolean> {
  if (word === '') return false;
  const { recipes } = await import('@saccade/train/recipes');
  return recipes.has(word);
}
