/** `npm run bench`: every op's bench cases, one table. */
import { ConfigError } from '@saccade/core';
import type { Command } from 'commander';
import { compareRuns, readResults } from '../baseline.ts';
import { allOps } from '../catalog-ops.ts';
import { type OpenRun, openRun, parseDtypes } from '../open-run.ts';
import type { Pass } from '../prepared-case.ts';
import { showProgress } from '../progress.ts';
import { drawResults } from '../report-ops.ts';
import { runMeasurement } from '../run-measurement.ts';
import { addRoofline, jobsForSlow, jobsOf, type OpResult, runJobs } from '../run-ops.ts';
import { addRunOptions, type RunFlags, reportSkipped } from './shared.ts';

interface OpsFlags extends RunFlags {
  readonly filter?: string;
  readonly baseline?: string;
  readonly pass?: string;
  readonly peaksInTurns?: boolean;
}

const PASSES: readonly Pass[] = ['forward', 'backward', 'both'];

/** @throws ConfigError naming the known ones */
function parsePasses(text: string): readonly Pass[] {
  return text.split(',').map((name) => {
    const found = PASSES.find((pass) => pass === name.trim());
    if (found !== undefined) return found;
    throw new ConfigError('pass', `--pass is "${name}". Pass some of ${PASSES.join(', ')}.`);
  });
}

export function addOps(program: Command, args: readonly string[]): void {
  const command = program
    .command('ops', { isDefault: true })
    .description('Every op at the shapes its file names: time, share of the roofline, error.')
    .option('--filter <words>', 'only cases whose "op shape" holds all: "gemm K1024"; comma: or')
    .option(
      '--pass <names>',
      'comma between; both: a forward and its backward. Default: one by one',
    )
    .option('--peaks-in-turns', 'hold each case to peaks measured in turns with it')
    .option('--baseline <file>', 'compare with an earlier --json; less than the spread is a tie');
  addRunOptions(command)
    .addHelpText(
      'after',
      `
A measurement is the median of its samples; p20–p80 holds three in five of them. GFLOP/s and GB/s
count the work an op cannot do without, as its file says. The roofline is measured in the same run:
multiply-adds in registers, and reading as many bytes as the case touches.

On a machine whose speed changes, as that of a virtual machine with neighbors does, a case and the peaks
meet different speeds. In turns they meet the same:
  npm run bench -- --filter "gemm M2048" --peaks-in-turns

Did my change make it faster?
  npm run bench -- --filter gemm --json before.json
  … change the kernel …
  npm run bench -- --filter gemm --baseline before.json

Beside PyTorch and the JavaScript libraries, in turns on the same data:
  npm run bench -- --filter attention --peers --python path/to/python

Our WebGPU kernels beside jax-js and TensorFlow.js on WebGPU in this process, and beside ONNX Runtime
Web in Chromium, where ours runs as well:
  npm run bench -- --backend webgpu --peers --filter "attention,gemm,logprob" --pass forward
Dawn takes the machine's GPU, else SwiftShader of an installed Chromium; then cases that would take
it too long are left out, and only ratios mean something. --record writes ops-webgpu.json.`,
    )
    .action((flags: OpsFlags) => runOps(flags, args));
}

async function runOps(flags: OpsFlags, args: readonly string[]): Promise<void> {
  const dtypes = parseDtypes(flags.dtype);
  const passes = flags.pass === undefined ? undefined : parsePasses(flags.pass);
  const jobs = jobsOf(allOps, flags.filter).map((job) => ({
    ...job,
    ...(passes && { passes }),
  }));
  if (jobs.length === 0) {
    const ids = allOps.map(({ id }) => id).join(', ');
    throw new ConfigError('filter', `No case matches "${flags.filter}". The ops are: ${ids}.`);
  }
  if (flags.peaksInTurns === true && (flags.peers !== undefined || flags.backend !== 'native')) {
    throw new ConfigError(
      'peaks-in-turns',
      '--peaks-in-turns measures the native backend, without --peers, which has turns of its own.',
    );
  }
  const before = flags.baseline === undefined ? { results: [] } : readResults(flags.baseline);
  let run: OpenRun | undefined;
  await runMeasurement<readonly OpResult[]>(flags, {
    kind: flags.backend === 'native' ? 'ops' : `ops-${flags.backend}`,
    async measure(signal) {
      run = await openRun({ ...flags, args });
      console.error(run.heading);
      const possible = run.isSlow ? jobsForSlow(jobs) : jobs;
      if (possible.length < jobs.length) {
        const count = jobs.length - possible.length;
        console.error(`left out: ${count} cases that take a processor playing a GPU too long`);
      }
      const measured = await runJobs(run.device, possible, {
        rounds: flags.rounds,
        seconds: flags.seconds,
        peers: run.peers,
        ...(flags.peaksInTurns && run.ceilings && { peaksInTurns: run.ceilings }),
        ...(run.browser && { browser: run.browser }),
        ...((dtypes ?? run.dtypes) && { dtypes: dtypes ?? run.dtypes }),
        signal,
        onStart: showProgress,
        onSkip: reportSkipped,
      });
      if (signal.aborted && measured.length === 0) return undefined;
      showProgress('');
      console.error(run.peaks());
      return addRoofline(measured, run.ceilings);
    },
    show: (results) =>
      console.log(drawResults(results, compareRuns(results, before, flags.seconds))),
    record: (results) => ({ ...run?.record(), measurementSeconds: flags.seconds, results }),
    close: async () => run?.dispose(),
  });
}
