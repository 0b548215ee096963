/** `npm run bench -- table`: rows of shapes beside their peers. */
import { ConfigError } from '@saccade/core';
import type { Command } from 'commander';
import { type GroupShape, measureSharedPrefix, type SharedPrefixResult } from '../group-packing.ts';
import { type OpenRun, openRun, parseDtypes } from '../open-run.ts';
import { showProgress } from '../progress.ts';
import { drawRows } from '../report-table.ts';
import type { TableRow } from '../rows/table-row.ts';
import { setsOf, tableSets, titleOfGroup } from '../rows/table-rows.ts';
import { runMeasurement } from '../run-measurement.ts';
import { addRoofline, type OpResult, runJobs } from '../run-ops.ts';
import { addRunOptions, parseCount, type RunFlags, reportSkipped } from './shared.ts';

export function addTable(program: Command, args: readonly string[]): void {
  const sets = [...tableSets].map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`);
  const command = program
    .command('table')
    .description('The shapes that decide how fast training and sampling are, in one table.')
    .option('--rows <sets>', 'whose rows, comma between: see below', 'headline')
    .option('--longest <tokens>', 'no sequence of attention is longer', parseCount, 4096)
    .option('--filter <words>', 'only rows whose title holds all words: "attention D64"');
  addRunOptions(command)
    .addHelpText(
      'after',
      `
Rows:
${sets.join('\n')}

The headline takes some minutes and 8 GB of memory with torch beside it, a model's layers half an hour:
  npm run bench -- table --peers --python path/to/python --record
  npm run bench -- table --rows 3b --dtype f32 --peers torch --python path/to/python
  npm run bench -- table --rows 3b --filter S32768 --longest 32768 --dtype f32

The vocabulary of 151936 makes PyTorch keep [128, 151936] logits; ours keeps the share of them that
the workspace column says. A shared prefix is compared with our own kernels on the repeated one.`,
    )
    .action((flags: TableFlags) => runTable(flags, args));
}

interface TableFlags extends RunFlags {
  readonly rows: string;
  readonly longest: number;
  readonly filter?: string;
}

interface Wanted {
  readonly rows: readonly TableRow[];
  readonly groups: readonly GroupShape[];
}

/** @throws ConfigError for rows that there are not */
function wantedOf({ rows: names, longest, filter }: TableFlags): Wanted {
  const words = filter?.toLowerCase().split(/\s+/) ?? [];
  const isWanted = (title: string): boolean =>
    words.every((word) => title.toLowerCase().includes(word));
  const sets = setsOf(names.split(',').map((name) => name.trim()));
  const all = sets.flatMap(({ rows }) => rows());
  const rows = all.filter(
    ({ title, job }) =>
      isWanted(title) && !(job.op.id === 'attention' && (job.opCase.dims.T ?? 0) > longest),
  );
  const allGroups = sets.flatMap(({ groups }) => groups);
  const groups = allGroups.filter((shape) => isWanted(titleOfGroup(shape)));
  if (rows.length > 0 || groups.length > 0) return { rows, groups };
  const titles = [...all.map(({ title }) => title), ...allGroups.map(titleOfGroup)].join('; ');
  throw new ConfigError(
    'filter',
    `No row of at most ${longest} tokens matches "${filter ?? ''}". The rows are: ${titles}.`,
  );
}

async function runTable(flags: TableFlags, args: readonly string[]): Promise<void> {
  const dtypes = parseDtypes(flags.dtype);
  const { rows, groups } = wantedOf(flags);
  let run: OpenRun | undefined;
  await runMeasurement<TableResults>(flags, {
    kind: flags.rows === 'headline' ? 'table' : `table-${flags.rows.replaceAll(/[^\w.]+/g, '-')}`,
    async measure(signal) {
      run = await openRun({ ...flags, args });
      console.error(run.heading);
      const options = {
        rounds: flags.rounds,
        seconds: flags.seconds,
        peers: run.peers,
        ...(dtypes && { dtypes }),
        signal,
        onStart: showProgress,
        onSkip: reportSkipped,
      };
      const jobs = rows.map(({ job }) => job);
      const measured = await runJobs(run.device, jobs, options);
      const sharedPrefix: SharedPrefixResult[] = [];
      for (const shape of groups) {
        if (signal.aborted) break;
        showProgress(titleOfGroup(shape));
        sharedPrefix.push(...(await measureSharedPrefix(run.device, shape, options)));
      }
      if (signal.aborted && measured.length + sharedPrefix.length === 0) return undefined;
      showProgress('');
      console.error(run.peaks());
      return { results: addRoofline(measured, run.ceilings), sharedPrefix };
    },
    show: ({ results, sharedPrefix }) => console.log(drawRows(rows, results, sharedPrefix)),
    record: (measured) => ({ ...run?.record(), ...measured }),
    close: async () => run?.dispose(),
  });
}

interface TableResults {
  readonly results: readonly OpResult[];
  readonly sharedPrefix: readonly SharedPrefixResult[];
}
