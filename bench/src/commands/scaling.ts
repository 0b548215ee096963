/** `npm run bench -- scaling`: how time grows, as a table and as a chart. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { InstructionSet } from '@saccade/backend-native';
import { type Command, Option } from 'commander';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import { publishedSizes } from '../published-sizes.ts';
import { runMeasurement } from '../run-measurement.ts';
import { measureScaling, type Sweep, scaledSizes } from '../scaling.ts';
import { describeGrowth, drawScaling } from '../scaling-chart.ts';
import { drawTable } from '../table.ts';
import { formatSeconds } from '../units.ts';
import {
  addResultOptions,
  parseCount,
  parseSeconds,
  type ResultFlags,
  resultPath,
  writeText,
} from './shared.ts';

interface ScalingFlags extends ResultFlags {
  readonly isa?: InstructionSet;
  readonly threads: number;
  readonly tokens: number;
  readonly patches: number;
  readonly vocabulary: number;
  readonly layers?: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly svg?: string;
}

export function addScaling(program: Command, args: readonly string[]): void {
  const command = program
    .command('scaling')
    .description('How time grows with tokens, images, vocabulary, groups, threads; draws it.')
    .option('--isa <name>', 'instruction set of the native backend: generic, avx2, avx512, …')
    .addOption(
      new Option('--layers <model>', 'of the widths of a published model').choices([
        ...publishedSizes.keys(),
      ]),
    )
    .option('--threads <count>', 'most threads', parseCount, availableParallelism())
    .option('--tokens <count>', 'longest sequence', parseCount, 32_768)
    .option('--patches <count>', 'largest image', parseCount, 16_384)
    .option('--vocabulary <count>', 'largest vocabulary', parseCount, 151_936)
    .option('--rounds <count>', 'samples wanted of each point', parseCount, 9)
    .option('--seconds <s>', 'about how long one of the six sweeps may take', parseSeconds, 60)
    .option('--svg <file>', 'draw the curves; --record does, beside its numbers');
  addResultOptions(command)
    .addHelpText(
      'after',
      `
A point is a forward and its backward in float32, and in decoding a forward alone; all points of a
sweep are measured in turns. The exponent p of time ∝ n^p is fitted over all sizes.

  npm run bench -- scaling --record        numbers and chart into bench/results/<machine>/
  npm run bench -- scaling --svg now.svg   the chart alone`,
    )
    .action((flags: ScalingFlags) => runScaling(flags, args));
}

async function runScaling(flags: ScalingFlags, args: readonly string[]): Promise<void> {
  const { isa, threads, rounds, seconds } = flags;
  const model = publishedSizes.get(flags.layers ?? '');
  const kind = model === undefined ? 'scaling' : `scaling-${flags.layers}`;
  const record = provenance(args);
  const about =
    `${record.machine.processor}, ${threads} threads, ` +
    `commit ${record.commit}, ${record.date.slice(0, 10)}`;
  const charts = [
    ...(flags.svg ? [resolve(flags.svg)] : []),
    ...(flags.record ? [resultPath(`${kind}.svg`)] : []),
  ];
  await runMeasurement<readonly Sweep[]>(flags, {
    kind,
    measure: (signal, keep) =>
      measureScaling({
        threads,
        rounds,
        seconds,
        mostTokens: flags.tokens,
        mostVocabulary: flags.vocabulary,
        mostPatches: flags.patches,
        ...(model && { sizes: scaledSizes(model) }),
        ...(isa && { isa }),
        onStart: showProgress,
        signal,
        keep,
      }),
    show(sweeps) {
      for (const sweep of sweeps) showSweep(sweep);
      for (const path of charts) writeText(path, drawScaling(sweeps, about));
    },
    record: (sweeps) => ({ ...record, threads, sweeps }),
  });
}

function showSweep({ axis, title, curves }: Sweep): void {
  const sizes = curves[0]?.sizes ?? [];
  const columns = [
    { title: axis },
    ...sizes.map((size) => ({ title: `${size}`, align: 'right' as const })),
    { title: 'growth' },
  ];
  const rows = curves.map((curve) => [
    curve.label,
    ...curve.seconds.map(({ median }) => formatSeconds(median)),
    describeGrowth(axis, curve),
  ]);
  console.log(`\n${title}`);
  console.log(drawTable(columns, rows));
}
