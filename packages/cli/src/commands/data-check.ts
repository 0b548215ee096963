/** The options of `saccade data check`. */
import type { DataCheckFlags } from '../data-check.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption, sourceOption } from './options.ts';

export function addDataCheck(data: LazyCommand): void {
  data
    .command('check')
    .description('Read every row with its images, and name those that cannot be used.')
    .argument('<from>', 'a file, a folder, or hf:datasets/owner/name')
    .addOption(sourceOption())
    .addOption(jsonOption())
    .addLazyHelp(
      async () => `${(await import('../data-source.ts')).sourceHelp()}

The status is 1 if more rows are corrupt than maxCorruptShare allows.`,
    )
    .action(async (from: string, flags: DataCheckFlags) =>
      (await import('../data-check.ts')).checkData(from, flags),
    );
}
