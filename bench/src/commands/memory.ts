/**
 * `npm run bench -- memory`: whether a long training holds on to memory, in words and as a chart.
 */
import { resolve } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { webgpuBackend } from '@saccade/backend-webgpu';
import { offerSoftwareGpu } from '@saccade/backend-webgpu/software-gpu';
import { ConfigError } from '@saccade/core';
import type { Backend } from '@saccade/ops';
import type { Command } from 'commander';
import { provenance } from '../machine.ts';
import { describeMemory, drawMemory } from '../memory-chart.ts';
import { type MemoryRun, measureMemory } from '../memory-steps.ts';
import { showProgress } from '../progress.ts';
import { runMeasurement } from '../run-measurement.ts';
import { addResultOptions, parseCount, type ResultFlags, resultPath, writeText } from './shared.ts';

interface MemoryFlags extends ResultFlags {
  readonly backend: string;
  readonly steps: number;
  readonly svg?: string;
}

/** Steps between the written values of a series; the slopes use all values. */
const WRITTEN_EVERY = 10;

export function addMemory(program: Command, args: readonly string[]): void {
  const command = program
    .command('memory')
    .description('Memory after each step of a long training: whether it stays flat; draws it.')
    .option('--backend <name>', 'native or webgpu', 'native')
    .option('--steps <count>', 'optimizer steps', parseCount, 1000)
    .option('--svg <file>', 'draw the curves; --record does, beside its numbers');
  addResultOptions(command)
    .addHelpText(
      'after',
      `
A step samples a group of a tiny policy, scores it, takes gradients and steps AdamW. After each one
are read: buffers and bytes as the backend counts them, resident memory of the process, JavaScript's
heap and what it holds outside. A fifth of the steps is left out as warm-up, the rest cut into 16
blocks; in each, garbage is collected once and the least reading counts.

Ends with status 1 if something grows.

  npm run bench -- memory --backend webgpu --record   into bench/results/<machine>/`,
    )
    .action((flags: MemoryFlags) => runMemory(flags, args));
}

async function runMemory(flags: MemoryFlags, args: readonly string[]): Promise<void> {
  const { steps } = flags;
  // Taken at the start: the run may take an hour, and the clone may change meanwhile.
  const record = provenance(args);
  const backend = await openBackend(flags.backend);
  const kind = `memory-${backend.name}`;
  const charts = [
    ...(flags.svg ? [resolve(flags.svg)] : []),
    ...(flags.record ? [resultPath(`${kind}.svg`)] : []),
  ];
  const about = `${record.machine.processor}, commit ${record.commit}, ${record.date.slice(0, 10)}`;
  await runMeasurement<MemoryRun>(flags, {
    kind,
    measure: (signal) => measureMemory({ backend, steps, onStep: showProgress, signal }),
    show(run) {
      console.log(`${run.what}; ${run.backend}; ${run.seconds.toFixed(0)} s`);
      for (const line of describeMemory(run)) console.log(line);
      for (const path of charts) writeText(path, drawMemory(run, about));
      if (Object.values(run.drift).some(({ verdict }) => verdict === 'grows')) process.exitCode = 1;
    },
    record: (run) => ({ ...record, ...run, writtenEvery: WRITTEN_EVERY, series: thin(run) }),
  });
}

/** @throws ConfigError or MissingError before any work */
async function openBackend(name: string): Promise<Backend> {
  if (name === 'native') return nativeBackend();
  if (name !== 'webgpu') {
    throw new ConfigError('backend', `--backend is "${name}". Pass native or webgpu.`);
  }
  offerSoftwareGpu();
  return webgpuBackend();
}

function thin({ series }: MemoryRun): Record<string, readonly number[]> {
  return Object.fromEntries(
    Object.entries(series).map(([reading, values]) => [
      reading,
      [...values].filter((_, i) => i % WRITTEN_EVERY === WRITTEN_EVERY - 1),
    ]),
  );
}
