/** `npm run bench -- scaling`: how time grows, as a table and as a picture. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { InstructionSet } from '@saccade/backend-native';
import type { Command } from 'commander';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import { measureScaling } from '../scaling.ts';
import { describeGrowth, drawScaling } from '../scaling-picture.ts';
import { drawTable } from '../table.ts';
import { formatSeconds } from '../units.ts';
import { parseCount, parseSeconds, writeJson } from './shared.ts';

interface ScalingFlags {
  readonly isa?: InstructionSet;
  readonly threads: number;
  readonly tokens: number;
  readonly vocabulary: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly svg?: string;
  readonly json?: string;
}

export function addScaling(program: Command, args: readonly string[]): void {
  program
    .command('scaling')
    .description('How time grows with tokens, vocabulary, group size and threads; draws it.')
    .option('--isa <name>', 'instruction set of the native backend: generic, avx2, avx512, …')
    .option('--threads <count>', 'most threads', parseCount, availableParallelism())
    .option('--tokens <count>', 'longest sequence', parseCount, 32_768)
    .option('--vocabulary <count>', 'largest vocabulary', parseCount, 151_936)
    .option('--rounds <count>', 'samples wanted of each point', parseCount, 9)
    .option('--seconds <s>', 'about how long one of the four sweeps may take', parseSeconds, 60)
    .option('--svg <file>', 'draw the curves')
    .option('--json <file>', 'write the results with machine, versions, commit and date')
    .addHelpText(
      'after',
      `
A point is a forward and its backward in float32; all points of a sweep are measured in turns. The
exponent p of time ∝ n^p is fitted over all sizes.

  npm run bench -- scaling --json bench/results/<machine>/scaling.json \\
    --svg bench/results/<machine>/scaling.svg`,
    )
    .action((flags: ScalingFlags) => runScaling(flags, args));
}

async function runScaling(flags: ScalingFlags, args: readonly string[]): Promise<void> {
  const { isa, threads, rounds, seconds } = flags;
  const sweeps = await measureScaling({
    threads,
    rounds,
    seconds,
    mostTokens: flags.tokens,
    mostVocabulary: flags.vocabulary,
    ...(isa && { isa }),
    onStart: showProgress,
  });
  showProgress('');
  for (const { axis, title, curves } of sweeps) {
    const sizes = curves[0]?.sizes ?? [];
    console.log(`\n${title}`);
    console.log(
      drawTable(
        [
          { title: axis },
          ...sizes.map((size) => ({ title: `${size}`, align: 'right' as const })),
          { title: 'growth' },
        ],
        curves.map((curve) => [
          curve.label,
          ...curve.seconds.map(({ median }) => formatSeconds(median)),
          describeGrowth(axis, curve),
        ]),
      ),
    );
  }
  const record = provenance(args);
  writeJson(flags.json, { ...record, threads, sweeps });
  if (flags.svg === undefined) return;
  const about =
    `${record.machine.processor}, ${threads} threads, ` +
    `commit ${record.commit}, ${record.date.slice(0, 10)}`;
  const path = resolve(flags.svg);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, drawScaling(sweeps, about));
  console.error(`Picture: ${path}`);
}
