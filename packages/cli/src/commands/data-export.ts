/** The options of `saccade data export`. */
import { Option } from 'commander';
import type { DataExportFlags } from '../data-export.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addSetting, jsonOption } from './options.ts';

export function addDataExport(data: LazyCommand): void {
  const format = new Option('--format <name>', 'how tasks are written').default('parquet');
  data
    .command('export')
    .description('Write tasks of any task set as files with a card that the viewer of a hub opens.')
    .option('--set <field=value>', 'the task set and its settings; may be repeated', addSetting, [])
    .requiredOption('--out <folder>', 'an empty folder, or one that is made')
    .addOption(format)
    .option('--count <n>', 'training tasks, at most (default: all)', wholeNumber)
    .option(
      '--held-out <n>',
      'held-out tasks, at most (default: as many as training tasks)',
      wholeNumber,
    )
    .option('--title <text>', 'title of the card (default: the name of the task set)')
    .option('--license <id>', 'license of the card, e.g. cc-by-4.0 (default: of the sources)')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade data export --set taskSet=needle --count 1000 --held-out 100 --out data/needle
  saccade data export --set taskSet=dataset --set taskSet.from=data/charts --set taskSet.epochs=1 \\
    --format webdataset --out data/charts-tar

The folder is read with taskSet=dataset, by the datasets library of Hugging Face, and by its viewer.`,
    )
    .before('--format', async () => {
      const { writers } = await import('@saccade/datasets');
      format.choices(writers.names);
    })
    .action(async (flags: DataExportFlags) =>
      (await import('../data-export.ts')).exportData(flags),
    );
}
