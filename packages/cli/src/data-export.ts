/** `saccade data export`: the tasks of a task set as files with a card. */
import { resolve } from 'node:path';
import { exportTasks, writers } from '@saccade/datasets';
import { applySettings, hubOf, openTaskSet, resolveRun, type Setting } from '@saccade/train';
import { printJson } from './json.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface DataExportFlags {
  readonly set: readonly Setting[];
  readonly out: string;
  readonly format: string;
  readonly count?: number;
  readonly heldOut?: number;
  readonly title?: string;
  readonly license?: string;
  readonly json?: boolean;
}

export async function exportData(flags: DataExportFlags): Promise<void> {
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
