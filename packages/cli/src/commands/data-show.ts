/** The options of `saccade data show`. */
import type { DataShowFlags } from '../data-show.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption, sourceOption } from './options.ts';

export function addDataShow(data: LazyCommand): void {
  data
    .command('show')
    .description('Show a data set: format, license, columns, and its first rows as tasks.')
    .argument('<from>', 'a file, a folder, or hf:datasets/owner/name')
    .addOption(sourceOption())
    .option('--count <n>', 'rows that are shown', wholeNumber, 3)
    .addOption(jsonOption())
    .addLazyHelp(async () => (await import('../data-source.ts')).sourceHelp())
    .action(async (from: string, flags: DataShowFlags) =>
      (await import('../data-show.ts')).showData(from, flags),
    );
}
