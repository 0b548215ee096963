/** The commands of `saccade`, without running one. */
import { Command } from 'commander';
import { addAudit } from './audit.ts';
import { addCompare } from './compare.ts';
import { addCurves } from './curves.ts';
import { addDoctor } from './doctor.ts';
import { addErrors } from './errors.ts';
import { addEval } from './eval.ts';
import { addExperiment } from './experiment.ts';
import { addInit } from './init.ts';
import { addRecipes } from './recipes.ts';
import { addReplay } from './replay.ts';
import { addReport } from './report.ts';
import { addRescore } from './rescore.ts';
import { addRewards } from './rewards.ts';
import { addServe } from './serve.ts';
import { addTrain } from './train.ts';

/** The command line with all its commands; parsing it runs one. */
export function openProgram(): Command {
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
    addInit,
    addCompare,
    addExperiment,
    addEval,
    addRecipes,
    addRewards,
    addReport,
    addAudit,
    addErrors,
    addRescore,
    addReplay,
    addCurves,
    addServe,
    addDoctor,
  ];
  for (const add of commands) add(program);
  return program;
}
