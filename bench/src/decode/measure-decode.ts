/**
 * Decoding of a checkpoint on this machine: loading, memory, and tokens per second beside transformers
 * and beside the memory's bandwidth.
 *
 * A rate counts from the first sampled token of all conversations to the last: prompts are not in it.
 * Ours with its own weights, with quantized ones, and transformers take turns; figures are medians.
 */
import { fileURLToPath } from 'node:url';
import { type InstructionSet, measurePeaks, nativeBackend } from '@saccade/backend-native';
import { bytesOf, ConfigError, groupsOf, startTrace } from '@saccade/core';
import { type Device, openDevice, tracedBackend } from '@saccade/ops';
import { type EngineSettings, type LocalPolicy, loadLocalPolicy } from '@saccade/policy';
import { type JsonLinesProcess, startJsonLines } from '../peers/json-lines.ts';
import { pairedRatio, type Ratio, type Sample, summarize } from '../statistics.ts';

/** Tokens of each conversation's prompt. */
const PROMPT = 32;

export type Weights = EngineSettings['sampleWeights'];

export interface DecodeOptions {
  readonly directory: string;
  readonly threads: number;
  /** Default: the best that runs here. */
  readonly isa?: 'auto' | InstructionSet;
  readonly conversations: readonly number[];
  /** Tokens that each conversation decodes. */
  readonly tokens: number;
  readonly rounds: number;
  readonly weights: readonly Weights[];
  /** An interpreter with torch and transformers; absent: ours alone. */
  readonly python?: string;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly keep?: (soFar: DecodeResult) => void;
}

/** Rates of one number of conversations. */
export interface DecodeRow {
  readonly conversations: number;
  /** Tokens per second, by weights. */
  readonly ours: Readonly<Partial<Record<Weights, Sample>>>;
  /**
   * Share of the bandwidth at which a step reads the weights that it needs: the median of the turns, each
   * beside what memory gave before and after it. In a virtual machine that varies by the second.
   */
  readonly bandwidth: Readonly<Partial<Record<Weights, number>>>;
  readonly transformers?: Sample;
  /** Our rate with weights of our own / theirs, of turns next to each other. */
  readonly toTransformers?: Ratio;
  /** Rate of quantized weights / own. */
  readonly toOwn: Readonly<Partial<Record<Weights, Ratio>>>;
}

export interface DecodeResult {
  readonly what: string;
  readonly threads: number;
  readonly parameters: number;
  readonly loadSeconds: number;
  /** Resident memory after loading, and what the process had before. */
  readonly loaded: { readonly beforeBytes: number; readonly afterBytes: number };
  readonly weightBytes: number;
  /** Bytes per second that all threads read from memory, the median over the run. */
  readonly readBytesPerSecond: Sample;
  readonly rows: readonly DecodeRow[];
  readonly peakResidentBytes: number;
  readonly peer?: {
    readonly versions: Readonly<Record<string, string>>;
    readonly loadSeconds: number;
    readonly peakBytes: number;
  };
}

/** Seconds of the decoding steps of `count` conversations, the first token left out. */
async function decodeSeconds(
  policy: LocalPolicy,
  count: number,
  tokens: number,
  round: number,
): Promise<number> {
  const times: number[] = [];
  const sampled = Array.from({ length: count }, (_, i) =>
    policy.sample({
      tokens: Int32Array.from({ length: PROMPT }, (_, t) => 20 + ((i * 31 + t * 7 + round) % 200)),
      images: [],
      maxTokens: tokens,
      stop: [],
      temperature: 1,
      seed: [round, i],
      conversation: `${i}`,
      ignoreEndOfTurn: true,
      onToken: () => times.push(performance.now()),
    }),
  );
  await Promise.all(sampled);
  for (let i = 0; i < count; i++) policy.release(`${i}`);
  return ((times.at(-1) as number) - (times[count - 1] as number)) / 1000;
}

/** Bytes of weights that a decoding step reads once. */
function bytesRead(policy: LocalPolicy, weights: Weights): number {
  const { model, parameters } = policy;
  const layers = model.specs.filter(({ name }) => name.includes('model.layers.'));
  const head = model.head(parameters);
  const own = (bytes: number, isLinear: boolean, columns: number): number => {
    if (weights === 'own' || !isLinear) return bytes;
    // Codes, and a scale of four bytes for each row, or each 128 elements.
    return weights === 'int8' ? bytes / 2 + (4 * bytes) / 2 / columns : bytes / 4 + bytes / 64;
  };
  const body = layers.reduce((sum, { name, shape, isLinear = false }) => {
    const tensor = parameters[name];
    if (tensor === undefined) return sum;
    return sum + own(tensor.size * bytesOf(tensor.dtype), isLinear, shape[1] ?? 1);
  }, 0);
  return body + head.size * bytesOf(head.dtype);
}

/** Time in kernels by op, where launches block: what of a decoding step is not in them is JavaScript. */
export interface Profile {
  readonly seconds: number;
  readonly byOp: Readonly<Record<string, number>>;
}

/** Profiles the decoding of `conversations`. */
export async function profileDecode(
  { directory, threads, tokens, isa = 'auto' }: DecodeOptions,
  conversations: number,
  sampleWeights: Weights,
): Promise<Profile> {
  const device = openDevice(tracedBackend(nativeBackend({ threads, isa, launches: 'blocking' })));
  const policy = await loadLocalPolicy({ device, directory });
  policy.configureEngine({ sampleWeights });
  await decodeSeconds(policy, conversations, 2, 0);
  const trace = startTrace();
  await decodeSeconds(policy, conversations, tokens, 1);
  const profile = trace.finish();
  policy.dispose();
  device.dispose();
  const kernels = groupsOf(profile).find(({ name }) => name === 'kernels')?.parts ?? [];
  const byOp = kernels.map(({ name, seconds: own }) => [name.replace('kernels/', ''), own]);
  return { seconds: profile.seconds, byOp: Object.fromEntries(byOp) };
}

interface Turn {
  /** Seconds of our decoding. */
  readonly ours: Readonly<Partial<Record<Weights, number>>>;
  /** Bytes per second that memory gave around it. */
  readonly readBytes: Readonly<Partial<Record<Weights, number>>>;
  readonly theirs?: number;
}

/** @throws MissingError if the Python cannot run transformers */
export async function measureDecode(options: DecodeOptions): Promise<DecodeResult> {
  const { directory, threads, conversations, tokens, rounds, weights, onProgress } = options;
  const { isa = 'auto' } = options;
  if (tokens < 2)
    throw new ConfigError('tokens', 'tokens must be 2 or more: the first is not timed.');
  const backend = nativeBackend({ threads, isa });
  const device: Device = openDevice(backend);
  const beforeBytes = process.memoryUsage.rss();
  onProgress('loading');
  const start = performance.now();
  const policy = await loadLocalPolicy({ device, directory });
  const loadSeconds = (performance.now() - start) / 1000;
  const afterBytes = process.memoryUsage.rss();
  const peer = options.python === undefined ? undefined : await startPeer(options.python, options);
  const reads: number[] = [];
  const rows: DecodeRow[] = [];
  const readMemory = (): number => {
    const { readBytes } = measurePeaks({ threads, sizeBytes: 2 ** 29 });
    reads.push(readBytes);
    return readBytes;
  };
  const bytesOfStep = Object.fromEntries(weights.map((one) => [one, bytesRead(policy, one)]));
  const result = (rows: readonly DecodeRow[]): DecodeResult => {
    const readBytesPerSecond = summarize(reads);
    return {
      what: `decoding ${tokens} tokens after ${PROMPT}, ${policy.model.architecture}, on ${backend.description}`,
      threads,
      parameters: policy.parameterCount,
      loadSeconds,
      loaded: { beforeBytes, afterBytes },
      weightBytes: Object.values(policy.parameters).reduce(
        (sum, { size, dtype }) => sum + size * bytesOf(dtype),
        0,
      ),
      readBytesPerSecond,
      rows,
      peakResidentBytes: process.resourceUsage().maxRSS * 1024,
      ...(peer && { peer: peer.ready as unknown as NonNullable<DecodeResult['peer']> }),
    };
  };
  try {
    for (const count of conversations) {
      const turns: Turn[] = [];
      for (let round = 0; round <= rounds; round++) {
        const ours: Partial<Record<Weights, number>> = {};
        const readBytes: Partial<Record<Weights, number>> = {};
        let before = readMemory();
        for (const sampleWeights of weights) {
          options.signal?.throwIfAborted();
          onProgress(`${count} conversations, round ${round} of ${rounds}, ${sampleWeights}`);
          policy.configureEngine({ sampleWeights });
          ours[sampleWeights] = await decodeSeconds(policy, count, tokens, round);
          const after = readMemory();
          readBytes[sampleWeights] = (before + after) / 2;
          before = after;
        }
        if (peer) onProgress(`${count} conversations, round ${round} of ${rounds}, transformers`);
        const answer = await peer?.ask({ conversations: count, tokens, prompt: PROMPT });
        // The first round warms up.
        if (round === 0) continue;
        turns.push({ ours, readBytes, ...(answer && { theirs: answer.seconds as number }) });
        options.keep?.(result([...rows, rowOf(count, tokens, turns, bytesOfStep)]));
      }
      rows.push(rowOf(count, tokens, turns, bytesOfStep));
    }
    return result(rows);
  } finally {
    await peer?.close();
    policy.dispose();
    device.dispose();
  }
}

async function startPeer(
  python: string,
  { directory, threads, onProgress }: DecodeOptions,
): Promise<JsonLinesProcess> {
  onProgress('loading in transformers');
  const script = fileURLToPath(new URL('../../peers/transformers_decode.py', import.meta.url));
  return await startJsonLines(
    python,
    [script, directory, '--threads', String(threads)],
    'torch and transformers',
  );
}

function rowOf(
  conversations: number,
  tokens: number,
  turns: readonly Turn[],
  bytesOfStep: Readonly<Partial<Record<Weights, number>>>,
): DecodeRow {
  const weights = Object.keys(bytesOfStep) as Weights[];
  const decoded = conversations * (tokens - 1);
  const secondsOf = (one: Weights): readonly number[] => turns.map(({ ours }) => ours[one] ?? NaN);
  const own = secondsOf('own');
  const theirs = turns.flatMap((turn) => (turn.theirs === undefined ? [] : [turn.theirs]));
  const rates = (seconds: readonly number[]): Sample => summarize(seconds.map((s) => decoded / s));
  const byWeights = <Value>(value: (one: Weights) => Value): Partial<Record<Weights, Value>> =>
    Object.fromEntries(weights.map((one) => [one, value(one)]));
  return {
    conversations,
    ours: byWeights((one) => rates(secondsOf(one))),
    bandwidth: byWeights((one) => {
      const bytes = (tokens - 1) * (bytesOfStep[one] ?? NaN);
      return summarize(
        turns.map((turn) => bytes / (turn.ours[one] ?? NaN) / (turn.readBytes[one] ?? NaN)),
      ).median;
    }),
    ...(theirs.length > 0 && {
      transformers: rates(theirs),
      toTransformers: pairedRatio(theirs, own),
    }),
    toOwn: byWeights((one) => pairedRatio(own, secondsOf(one))),
  };
}
