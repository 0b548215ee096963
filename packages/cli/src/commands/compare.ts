/** The options of `saccade compare`. */
import type { CompareFlags } from '../compare.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addSetting, configOption, jsonOption } from './options.ts';

export function addCompare(program: LazyCommand): void {
  program
    .command('compare')
    .description('Train once for each value of a field, from one cold start; table and image.')
    .argument('[recipe]', 'what to train; see `saccade recipes`', 'pyvision-image-nano')
    .option('--vary <field=values>', 'the field and its values, separated by commas (required)')
    .option('--from <directory>', 'a run whose cold start all take over (default: make one)')
    .option('--out <directory>', 'the runs, table.md and curves.svg', 'runs/compare')
    .option('--set <field=value>', 'change a field for all; may be repeated', addSetting, [])
    .addOption(configOption())
    .option('--seed <n>', 'seed of every random stream', wholeNumber)
    .option('--steps <n>', 'reinforcement-learning steps of each run', wholeNumber)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade compare --steps 30 --vary algorithm=grpo,dapo,gspo,rloo,ppo
  saccade compare --steps 30 --vary reward.accumulative-tool=0,0.1 --from runs/pyvision-image-nano-seed1

All runs see the same tasks in the same order. Called again, it continues where it stopped.`,
    )
    .action(async (recipe: string, flags: CompareFlags) =>
      (await import('../compare.ts')).compareRuns(recipe, flags),
    );
}
