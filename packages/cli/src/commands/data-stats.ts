/** The options of `saccade data stats`. */
import type { DataStatsFlags } from '../data-stats.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption, sourceOption } from './options.ts';

export function addDataStats(data: LazyCommand): void {
  data
    .command('stats')
    .description('Measure a data set: a page with sizes, answers, corrupt rows and examples.')
    .argument('<from>', 'a file, a folder, or hf:datasets/owner/name')
    .addOption(sourceOption())
    .option('--most <n>', 'rows of each split that are read, evenly over it', wholeNumber, 10_000)
    .option('--examples <n>', 'tasks of each split that are shown', wholeNumber, 20)
    .option('--out <file>', 'the page (default: statistics.html)')
    .addOption(jsonOption())
    .addLazyHelp(async () => (await import('../data-source.ts')).sourceHelp())
    .action(async (from: string, flags: DataStatsFlags) =>
      (await import('../data-stats.ts')).measureData(from, flags),
    );
}
