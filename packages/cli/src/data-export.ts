/** `saccade data export`: the tasks of a task set as files with a card. */
import { resolve } from 'node:path';
import { exportTasks, writers } from '@saccade/datasets';
import {
  applySettings,
  hubOf,
  openTaskSet,
  parseSetting,
  resolveRun,
  type Setting,
} from '@saccade/train';
import { type Command, Option } from 'commander';
import { jsonOption, printJson } from './json.ts';
import { collect, wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface ExportFlags {
  readonly set: readonly Setting[];
  readonly out: string;
  readonly format: string;
  readonly count?: number;
  readonly heldOut?: number;
  readonly title?: string;
  readonly license?: string;
  readonly json?: boolean;
}

const addSetting = (text: string, before: readonly Setting[]): readonly Setting[] =>
  collect(parseSetting(text), before);

export function addDataExport(data: Command): void {
  data
    .command('export')
    .description('Write tasks of any task set as files with a card that the viewer of a hub opens.')
    .option(SET_TASKS, 'the task set and its settings; may be repeated', addSetting, [])
    .requiredOption('--out <folder>', 'an empty folder, or one that is made')
    .addOption(
      new Option('--format <name>', 'how tasks are written')
        .choices(writers.names)
        .default('parquet'),
    )
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
    .action((flags: ExportFlags) => run(flags));
}

const SET_TASKS = '--set <field=value>';

async function run(flags: ExportFlags): Promise<void> {
  const { set, out, format, count, heldOut = count, title, license, json } = flags;
  const onEvent = terminalProgress({ stream: process.stderr });
  const resolved = resolveRun(applySettings({}, set));
  const taskSet = await openTaskSet(resolved, { hub: { ...hubOf(process.env), onEvent }, onEvent });
  try {
    const directory = resolve(out);
    const result = await exportTasks(taskSet, {
      directory,
      writer: writers.get(format),
      counts: {
        ...(count !== undefined && { train: count }),
        ...(heldOut !== undefined && { heldOut }),
      },
      title: title ?? taskSet.name,
      ...(license && { license }),
      onEvent,
    });
    if (json) return printJson({ directory, ...result });
    for (const [split, { rowCount, files, sizeBytes }] of Object.entries(result.splits)) {
      const megabytes = (sizeBytes / 1e6).toFixed(1);
      console.log(`${split}: ${rowCount} rows in ${files.length} files, ${megabytes} MB.`);
    }
    console.log(`Folder: ${directory}`);
  } finally {
    await taskSet.dispose?.();
  }
}
