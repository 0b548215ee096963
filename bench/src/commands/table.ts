/** `npm run bench -- table`: the headline shapes beside their peers. */
import { ConfigError } from '@saccade/core';
import type { Command } from 'commander';
import { measureSharedPrefix, type SharedPrefixResult } from '../group-packing.ts';
import { GROUP_TITLE, HEADLINE_GROUP, headlines } from '../headline.ts';
import { type OpenRun, openRun, parseDtypes } from '../open-run.ts';
import { showProgress } from '../progress.ts';
import { drawHeadlines } from '../report-headline.ts';
import { runMeasurement } from '../run-measurement.ts';
import { addRoofline, type OpResult, runJobs } from '../run-ops.ts';
import { addRunOptions, type RunFlags, reportSkipped } from './shared.ts';

export function addTable(program: Command, args: readonly string[]): void {
  const command = program
    .command('table')
    .description('The shapes that decide how fast training and sampling are, in one table.')
    .option('--filter <words>', 'only rows whose title holds all words: "attention D64"');
  addRunOptions(command)
    .addHelpText(
      'after',
      `
Takes some minutes and 8 GB of memory with torch beside it:
  npm run bench -- table --peers --python path/to/python --record

The vocabulary of 151936 makes PyTorch keep [128, 151936] logits; ours keeps the share of them that
the workspace column says. The shared prefix is compared with our own kernels on the repeated one.`,
    )
    .action((flags: TableFlags) => runTable(flags, args));
}

interface TableFlags extends RunFlags {
  readonly filter?: string;
}

async function runTable(flags: TableFlags, args: readonly string[]): Promise<void> {
  const dtypes = parseDtypes(flags.dtype);
  const words = flags.filter?.toLowerCase().split(/\s+/) ?? [];
  const isWanted = (title: string): boolean =>
    words.every((word) => title.toLowerCase().includes(word));
  const rows = headlines().filter(({ title }) => isWanted(title));
  if (rows.length === 0 && !isWanted(GROUP_TITLE)) {
    const titles = [...headlines().map(({ title }) => title), GROUP_TITLE].join('; ');
    throw new ConfigError('filter', `No row matches "${flags.filter}". The rows are: ${titles}.`);
  }
  let run: OpenRun | undefined;
  await runMeasurement<HeadlineResults>(flags, {
    kind: 'table',
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
      if (signal.aborted && measured.length === 0) return undefined;
      showProgress('shared prefix');
      const sharedPrefix =
        isWanted(GROUP_TITLE) && !signal.aborted
          ? await measureSharedPrefix(run.device, HEADLINE_GROUP, options)
          : [];
      showProgress('');
      console.error(run.peaks());
      return { results: addRoofline(measured, run.ceilings), sharedPrefix };
    },
    show: ({ results, sharedPrefix }) => console.log(drawHeadlines(rows, results, sharedPrefix)),
    record: (measured) => ({ ...run?.record(), ...measured }),
    close: async () => run?.dispose(),
  });
}

interface HeadlineResults {
  readonly results: readonly OpResult[];
  readonly sharedPrefix: readonly SharedPrefixResult[];
}
