/** `npm run bench -- table`: the headline shapes beside their peers. */
import type { Command } from 'commander';
import { HEADLINE_GROUP, headlines, measureSharedPrefix } from '../headline.ts';
import { openRun, parseDtypes } from '../open-run.ts';
import { showProgress } from '../progress.ts';
import { drawHeadlines } from '../report-headline.ts';
import { runJobs } from '../run-ops.ts';
import { addRunOptions, type RunFlags, writeJson } from './shared.ts';

export function addTable(program: Command, args: readonly string[]): void {
  const command = program
    .command('table')
    .description('The shapes that decide how fast training and sampling are, in one table.');
  addRunOptions(command)
    .addHelpText(
      'after',
      `
Takes some minutes and 8 GB of memory with torch beside it:
  npm run bench -- table --peers --python path/to/python --json bench/results/<machine>/table.json

The vocabulary of 151936 makes PyTorch keep [128, 151936] logits; ours keeps the share of them that
the workspace column says. The shared prefix is compared with our own kernels on the repeated one.`,
    )
    .action((flags: RunFlags) => runTable(flags, args));
}

async function runTable(flags: RunFlags, args: readonly string[]): Promise<void> {
  const dtypes = parseDtypes(flags.dtype);
  const rows = headlines();
  const run = await openRun({ ...flags, args });
  console.error(run.heading);
  const options = {
    rounds: flags.rounds,
    seconds: flags.seconds,
    peers: run.peers,
    ...(dtypes && { dtypes }),
    ...(run.ceilings && { ceilings: run.ceilings }),
    onStart: showProgress,
    onSkip: (what: string, why: string) => console.error(`left out: ${what}: ${why}`),
  };
  try {
    const jobs = rows.map(({ job }) => job);
    const results = await runJobs(run.device, jobs, options);
    showProgress('shared prefix');
    const sharedPrefix = await measureSharedPrefix(run.device, HEADLINE_GROUP, options);
    showProgress('');
    console.log(drawHeadlines(rows, results, sharedPrefix));
    writeJson(flags.json, { ...run.record, results, sharedPrefix });
  } finally {
    await run.dispose();
  }
}
