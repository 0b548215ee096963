/** The commands of `saccade`, without running one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addAlgorithms } from './commands/algorithms.ts';
import { addAudit } from './commands/audit.ts';
import { addCluster } from './commands/cluster.ts';
import { addCompare } from './commands/compare.ts';
import { addCompletion } from './commands/completion.ts';
import { addCurves } from './commands/curves.ts';
import { addData } from './commands/data.ts';
import { addDoctor } from './commands/doctor.ts';
import { addErrors } from './commands/errors.ts';
import { addEval } from './commands/eval.ts';
import { addExperiment } from './commands/experiment.ts';
import { addFaithfulness } from './commands/faithfulness.ts';
import { addInit } from './commands/init.ts';
import { LazyCommand } from './commands/lazy-command.ts';
import { addLearner } from './commands/learner.ts';
import { addParity } from './commands/parity.ts';
import { addPlan } from './commands/plan.ts';
import { addRatings } from './commands/ratings.ts';
import { addRecipes } from './commands/recipes.ts';
import { addReplay } from './commands/replay.ts';
import { addReport } from './commands/report.ts';
import { addRescore } from './commands/rescore.ts';
import { addRewards } from './commands/rewards.ts';
import { addServe } from './commands/serve.ts';
import { addSynthesize } from './commands/synthesize.ts';
import { addTrain } from './commands/train.ts';
import { columnsOf, foldLines } from './say.ts';

/**
 * The command line with all its commands; parsing it runs one.
 *
 * @param words what will be parsed: what these words do not name is not loaded
 */
export async function openProgram(words: readonly string[]): Promise<LazyCommand> {
  const program = new LazyCommand('saccade')
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
    addCluster,
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
  await program.prepare(words);
  // Last, since it completes the commands that are there.
  await addCompletion(program, words);
  return program;
}

/** The version of this package. */
function version(): string {
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
