/** Whether a command that a document shows is one: commands, flags, recipes, settings. */
import { existsSync } from 'node:fs';
import { applySettings, checkRun, type parseSetting, resolveRun } from '@saccade/train';
import { type Command, CommanderError } from 'commander';
import { openProgram } from './program.ts';
import { findRecipe } from './recipe-arguments.ts';

/**
 * Parses a command, without running it; one that trains also has its recipe and settings resolved.
 *
 * @param words  what follows `saccade`, e.g. ['train', 'smoke']
 * @returns what is wrong with it; undefined if nothing is
 */
export async function checkCommand(words: readonly string[]): Promise<string | undefined> {
  const program = await openProgram(words);
  let ran: (() => Promise<void>) | undefined;
  neutralize(program, (command) => {
    if (command.name() === 'train') ran = () => checkTrain(command);
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
    await ran?.();
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

/** Puts `onParsed` in the place of what each command does. */
function neutralize(command: Command, onParsed: (command: Command) => void): void {
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  if (command.commands.length === 0) command.action(() => onParsed(command));
  for (const child of command.commands) neutralize(child, onParsed);
}

async function checkTrain(command: Command): Promise<void> {
  const { set = [], resume } = command.opts<{
    set?: readonly ReturnType<typeof parseSetting>[];
    resume?: string;
  }>();
  const name = String(command.processedArgs[0]);
  // Documents show files and runs of the reader's own.
  if (resume !== undefined || (/[./]/.test(name) && !existsSync(name))) return;
  const { input } = await findRecipe(name);
  checkRun(resolveRun(applySettings(input, [...set])));
}
