/** The `saccade` command line. */
import { ConfigError, messageOf, SaccadeError } from '@saccade/core';
import { Command } from 'commander';
import { addDoctor } from './doctor.ts';
import { addEval } from './eval.ts';
import { addRecipes } from './recipes.ts';
import { addReport } from './report.ts';
import { addTrain } from './train.ts';

/** Runs one command; errors become one message and an exit code: 2 for usage, 1 for the rest. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('saccade')
    .description('Reinforcement learning of vision-language agents that think with images.')
    .option('--verbose', 'show the stack of an error')
    .showHelpAfterError('(add --help for usage)')
    .addHelpText('after', '\nBegin with:  saccade doctor, then  saccade train smoke');
  for (const add of [addTrain, addEval, addRecipes, addReport, addDoctor]) add(program);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    const isKnown = error instanceof SaccadeError;
    console.error(`error: ${messageOf(error)}`);
    if (program.opts<{ verbose?: boolean }>().verbose === true || !isKnown) console.error(error);
    process.exitCode = error instanceof ConfigError ? 2 : 1;
  }
}
