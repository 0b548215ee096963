/** The commands of `saccade`, without running one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { addAlgorithms } from './algorithms.ts';
import { addAudit } from './audit.ts';
import { addCompare } from './compare.ts';
import { addCompletion } from './completion.ts';
import { addCurves } from './curves.ts';
import { addData } from './data.ts';
import { addDoctor } from './doctor.ts';
import { addErrors } from './errors.ts';
import { addEval } from './eval.ts';
import { addExperiment } from './experiment.ts';
import { addFaithfulness } from './faithfulness.ts';
import { addInit } from './init.ts';
import { addLearner } from './learner.ts';
import { addParity } from './parity.ts';
import { addPlan } from './plan.ts';
import { addRatings } from './ratings.ts';
import { addRecipes } from './recipes.ts';
import { addReplay } from './replay.ts';
import { addReport } from './report.ts';
import { addRescore } from './rescore.ts';
import { addRewards } from './rewards.ts';
import { columnsOf, foldLines } from './say.ts';
import { addServe } from './serve.ts';
import { addSynthesize } from './synthesize.ts';
import { addTrain } from './train.ts';

/** The command line with all its commands; parsing it runs one. */
export function openProgram(): Command {
  const program = new Command('saccade')
    .description('Reinforcement learning of vision-language agents that think with images.')
    .version(version(), '-V, --version', 'print the version')
    .option('--verbose', 'show the stack of an error')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => process.stdout.write(foldLines(text, columnsOf(process.stdout))),
      writeErr: (text) => process.stderr.write(foldLines(text, columnsOf(process.stderr))),
    })
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
    addInit,
    addCompare,
    addExperiment,
    addEval,
    addRecipes,
    addAlgorithms,
    addRewards,
    addData,
    addReport,
    addAudit,
    addErrors,
    addFaithfulness,
    addPlan,
    addRatings,
    addRescore,
    addReplay,
    addCurves,
    addServe,
    addLearner,
    addSynthesize,
    addDoctor,
    addParity,
  ];
  for (const add of commands) add(program);
  // Last, since it completes the commands that are there.
  addCompletion(program);
  return program;
}

/** The version of this package. */
function version(): string {
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
