/** The options of `saccade train`. */
import { wholeNumber } from '../shared.ts';
import type { TrainFlags } from '../train.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addSetting, configOption, jsonOption } from './options.ts';

export function addTrain(program: LazyCommand): void {
  program
    .command('train')
    .description('Train a policy by a recipe; the run’s files go to runs/<name>/.')
    .argument(
      '[recipe]',
      'a recipe’s name (see `saccade recipes`) or its file, e.g. ./my-recipe.ts',
      'pyvision-image-nano',
    )
    .option('--set <field=value>', 'change a field of the recipe; may be repeated', addSetting, [])
    .option('--seed <n>', 'seed of every random stream', wholeNumber)
    .option('--steps <n>', 'reinforcement-learning steps', wholeNumber)
    .option('--out <directory>', 'run directory (default: runs/<recipe>-seed<seed>)')
    .option('--resume <directory>', 'continue with the run in this directory')
    .option('--backend <name>', 'what runs the kernels, e.g. native or cuda')
    .option(
      '--profile',
      'say where the time went: profile.json and profile.html in the run directory',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade train                                     the main job: a small policy learns to look
  saccade train smoke                               every stage once, in under a minute
  saccade train --seed 2 --steps 20                 another seed, fewer steps
  saccade train --set algorithm=dapo                another algorithm; see docs/catalog.md
  saccade train --set reward.accumulative-tool=0    without the bonus per tool call
  saccade train ./my-recipe.ts                      a recipe of your own; see saccade init
  saccade train smoke --profile                     where its time goes, as a table and flame graphs
  saccade train --resume runs/pyvision-image-nano-seed1
  saccade train --resume runs/pyvision-image-nano-seed1 --steps 80    extends a finished run

Ctrl-C finishes the step, saves a checkpoint and says how to continue; before the first step, and when
pressed again, it stops at once.
A profiled run has the same metrics, but for times: its kernels run one by one while JavaScript waits.

At the end open report.html in the run directory.`,
    )
    .action(async (recipe: string, flags: TrainFlags) =>
      (await import('../train.ts')).trainRecipe(recipe, flags),
    );
}
