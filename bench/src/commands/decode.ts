/** `npm run bench -- decode`, `… lora-step` and `… checkpoint`: a published model's shape on this machine. */
import type { InstructionSet } from '@saccade/backend-native';
import { ConfigError } from '@saccade/core';
import { type Command, InvalidArgumentError } from 'commander';
import {
  type DecodeResult,
  type DecodeRow,
  measureDecode,
  profileDecode,
  type Weights,
} from '../decode/measure-decode.ts';
import { measureStep, type StepResult, type StepSoFar } from '../decode/measure-step.ts';
import { writeRandomCheckpoint } from '../decode/random-checkpoint.ts';
import { shapes } from '../decode/shapes.ts';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import { runMeasurement } from '../run-measurement.ts';
import type { Ratio, Sample } from '../statistics.ts';
import { type Column, drawTable } from '../table.ts';
import { formatRatio, noteOfUndecided, threeDigits } from '../units.ts';
import { addResultOptions, parseCount, type ResultFlags } from './shared.ts';

const ALL: readonly Weights[] = ['own', 'int8', 'int4'];
const ISA = 'instruction set of ours: generic, avx2, avx512, … (default: the best)';

function parseCounts(text: string): readonly number[] {
  return text.split(',').map(parseCount);
}

function parseWeights(text: string): readonly Weights[] {
  return text.split(',').map((name) => {
    const found = ALL.find((one) => one === name.trim());
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`Pass some of ${ALL.join(', ')}.`);
  });
}

interface DecodeFlags extends ResultFlags {
  readonly conversations: readonly number[];
  readonly tokens: number;
  readonly rounds: number;
  readonly threads: number;
  readonly isa?: InstructionSet;
  readonly weights: readonly Weights[];
  readonly python?: string;
  readonly profile?: number;
  readonly name: string;
}

interface StepFlags extends ResultFlags {
  readonly group: number;
  readonly tokens: number;
  readonly image: number;
  readonly threads: number;
  readonly isa?: InstructionSet;
  readonly weights: readonly Weights[];
  readonly name: string;
}

export function addDecode(program: Command, args: readonly string[]): void {
  program
    .command('checkpoint')
    .description('Writes a checkpoint of a published shape with random bf16 weights.')
    .argument('<shape>', Object.keys(shapes).join(', '))
    .argument('<directory>', 'a directory to make; the weights of 3B take 7.5 GB')
    .action(async (name: string, directory: string) => {
      const shape = shapes[name];
      if (shape === undefined) {
        const known = Object.keys(shapes).join(', ');
        throw new ConfigError('shape', `There is no shape "${name}". Known: ${known}.`);
      }
      const bytes = await writeRandomCheckpoint(directory, shape());
      console.log(`${directory}: ${gigabytes(bytes)} of weights`);
    });
  const decode = program
    .command('decode')
    .description('Decoding of a checkpoint: loading, memory, tokens per second, bandwidth.')
    .argument('<directory>', 'a checkpoint, for example one that `checkpoint` wrote')
    .option('--conversations <counts>', 'decoded at a time, comma between', parseCounts, [1, 8, 32])
    .option('--tokens <count>', 'that each conversation decodes', parseCount, 9)
    .option('--rounds <count>', 'of each side after one to warm up', parseCount, 3)
    .option('--threads <count>', 'of both sides', parseCount, 2)
    .option('--isa <name>', ISA)
    .option('--weights <names>', 'own, int8, int4, comma between', parseWeights, ALL)
    .option('--python <path>', 'an interpreter with torch and transformers, to take turns with')
    .option('--profile <count>', 'instead: time by op with so many conversations', parseCount)
    .option('--name <name>', 'of the result', 'decode');
  addResultOptions(decode)
    .addHelpText(
      'after',
      `
A rate counts from the first sampled token of all conversations to the last. The share of the
bandwidth is what a step must read of the weights, over what all threads read before and after it.

  npm run bench -- checkpoint qwen2.5-vl-3b weights/3b
  npm run bench -- decode weights/3b --python path/to/python --record
  npm run bench -- decode weights/3b --weights own --profile 8   where the time goes`,
    )
    .action((directory: string, flags: DecodeFlags) => runDecode(directory, flags, args));
  const step = program
    .command('lora-step')
    .description('One GRPO step of a checkpoint with LoRA: seconds, memory beside the forecast.')
    .argument('<directory>', 'a checkpoint')
    .option('--group <count>', 'rollouts of the prompt', parseCount, 4)
    .option('--tokens <count>', 'of each rollout', parseCount, 512)
    .option('--image <pixels>', 'side of the image of the prompt', parseCount, 630)
    .option('--threads <count>', 'that compute', parseCount, 2)
    .option('--isa <name>', ISA)
    .option('--weights <name>', 'own, int8 or int4: what samples are drawn with', parseWeights, [
      'own',
    ])
    .option('--name <name>', 'of the result', 'lora-step');
  addResultOptions(step).action((directory: string, flags: StepFlags) =>
    runStep(directory, flags, args),
  );
}

async function runDecode(
  directory: string,
  flags: DecodeFlags,
  args: readonly string[],
): Promise<void> {
  const record = provenance(args);
  const options = { ...flags, directory, onProgress: showProgress };
  if (flags.profile !== undefined) {
    for (const weights of flags.weights) await showProfile(options, flags.profile, weights);
    return;
  }
  await runMeasurement<DecodeResult>(flags, {
    kind: flags.name,
    measure: (signal, keep) => measureDecode({ ...options, signal, keep }),
    show(result) {
      console.log(describe(result));
      console.log(drawTable(COLUMNS, result.rows.flatMap(rowsOf)));
      for (const note of noteOfUndecided(result.rows.flatMap(ratiosOf))) console.log(note);
    },
    record: (result) => ({
      ...record,
      versions: { ...record.versions, ...result.peer?.versions },
      ...result,
    }),
  });
}

function ratiosOf({ toOwn, toTransformers }: DecodeRow): readonly Ratio[] {
  return [...Object.values(toOwn), ...(toTransformers ? [toTransformers] : [])];
}

async function showProfile(
  options: Parameters<typeof profileDecode>[0],
  conversations: number,
  weights: Weights,
): Promise<void> {
  const { seconds, byOp } = await profileDecode(options, conversations, weights);
  showProgress('');
  const kernels = Object.values(byOp).reduce((sum, time) => sum + time, 0);
  console.log(`${weights}, ${conversations} conversations: ${seconds.toFixed(3)} s`);
  const rows = Object.entries({ ...byOp, 'beside kernels': seconds - kernels });
  for (const [op, time] of rows.sort((a, b) => b[1] - a[1])) {
    console.log(`  ${op.padEnd(24)} ${time.toFixed(4)} s  ${percent(time / seconds)}`);
  }
}

async function runStep(
  directory: string,
  flags: StepFlags,
  args: readonly string[],
): Promise<void> {
  const record = provenance(args);
  const [sampleWeights = 'own'] = flags.weights;
  const options = { ...flags, directory, imageSide: flags.image, sampleWeights };
  await runMeasurement<StepResult | StepSoFar>(flags, {
    kind: flags.name,
    measure: (signal, keep) => measureStep({ ...options, onProgress: showProgress, signal, keep }),
    show(result) {
      if ('what' in result) {
        const { what, promptTokens } = result;
        console.log(`${what}, a prompt of ${promptTokens}, samples from ${sampleWeights}`);
      }
      for (const [part, time] of Object.entries(result.seconds)) {
        console.log(`  ${part.padEnd(10)} ${time.toFixed(1)} s`);
      }
      if ('forecast' in result) console.log(describeMemory(result));
    },
    record: (result) => ({ ...record, ...result }),
  });
}

function describeMemory({ peakResidentBytes, allocatedPeakBytes, forecast }: StepResult): string {
  return (
    `memory: ${gigabytes(peakResidentBytes)} resident at most, ` +
    `${gigabytes(allocatedPeakBytes)} allocated; forecast ${gigabytes(forecast.total)} ` +
    `allocated, ${gigabytes(forecast.held)} held`
  );
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

function describe(result: DecodeResult): string {
  const { loaded, peer } = result;
  const lines = [
    `${result.what}: ${(result.parameters / 1e9).toFixed(2)} billion parameters, ` +
      `${gigabytes(result.weightBytes)}, ${result.threads} threads`,
    `loaded in ${result.loadSeconds.toFixed(1)} s; resident memory ` +
      `${gigabytes(loaded.beforeBytes)} before, ${gigabytes(loaded.afterBytes)} after, ` +
      `${gigabytes(result.peakResidentBytes)} at most`,
    `memory is read at ${gigabytes(result.readBytesPerSecond.median)}/s`,
  ];
  if (peer !== undefined) {
    lines.push(
      `transformers: loaded in ${peer.loadSeconds.toFixed(1)} s, ` +
        `${gigabytes(peer.peakBytes)} resident at most`,
    );
  }
  return lines.join('\n');
}

const right = (title: string): Column => ({ title, align: 'right' });
const COLUMNS: readonly Column[] = [
  right('conversations'),
  { title: 'weights', align: 'left' },
  right('tokens/s'),
  right('of bandwidth'),
  right('× own'),
  right('transformers'),
  right('× theirs'),
];

const rate = (sample: Sample | undefined): string =>
  sample === undefined ? '' : threeDigits(sample.median);
const ratio = (one: Ratio | undefined): string => (one === undefined ? '' : formatRatio(one));

function rowsOf(row: DecodeRow): string[][] {
  return Object.entries(row.ours).map(([weights, own]) => {
    const one = weights as Weights;
    const isOwn = one === 'own';
    return [
      isOwn ? `${row.conversations}` : '',
      weights,
      rate(own),
      percent(row.bandwidth[one] ?? Number.NaN),
      isOwn ? '' : ratio(row.toOwn[one]),
      isOwn ? rate(row.transformers) : '',
      isOwn ? ratio(row.toTransformers) : '',
    ];
  });
}
