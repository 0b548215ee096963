/** The `saccade` command line. */
import { Command, CommanderError } from 'commander';
import { addAudit } from './audit.ts';
import { addCompare } from './compare.ts';
import { addCurves } from './curves.ts';
import { addDoctor } from './doctor.ts';
import { addEval } from './eval.ts';
import { addExperiment } from './experiment.ts';
import { explainError } from './explain-error.ts';
import { addRecipes } from './recipes.ts';
import { addReplay } from './replay.ts';
import { addReport } from './report.ts';
import { addRescore } from './rescore.ts';
import { addRewards } from './rewards.ts';
import { addServe } from './serve.ts';
import { addTrain } from './train.ts';

/** Runs one command; errors become one message and an exit code: 2 for usage, 1 for the rest. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('saccade')
    .description('Reinforcement learning of vision-language agents that think with images.')
    .option('--verbose', 'show the stack of an error')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Begin with:
  saccade doctor         what this machine can run
  saccade train smoke    every stage once, in about a minute
  saccade train          the main job: a small vision policy learns to look`,
    );
  const commands = [
    addTrain,
    addCompare,
    addExperiment,
    addEval,
    addRecipes,
    addRewards,
    addReport,
    addAudit,
    addRescore,
    addReplay,
    addCurves,
    addServe,
    addDoctor,
  ];
  for (const add of commands) add(program);
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
