/** Compares two computations of one context part by part, in the order in which they follow. */
import type { NamedArray } from '@saccade/nn';
import type { LanguageModel } from '../models/language-model.ts';
import type { ValuesByPart } from './own-values.ts';

/** One part of a comparison. */
export interface ComparedPart {
  /** What was compared, for people: `decoder layer 3 (model.layers.3)`. */
  readonly what: string;
  /** The norm of the difference over the norm of transformers' values; 0 or ∞ for what is exact. */
  readonly difference: number;
  /** The most that counts as equal. */
  readonly gate: number;
  /** Why it could not be compared, where it could not. */
  readonly problem?: string;
}

/** Whether a part counts as equal. */
export const isEqual = ({ difference, gate }: ComparedPart): boolean => difference <= gate;

/** What is smaller than this part of the mean norm of all gradients is zero but for rounding. */
const ZERO = 1e-6;

/** ‖a − b‖ / scale; ∞ for other lengths, or values that are no numbers. */
export function relativeDistance(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  scale: number = norm(b),
): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  if (sum === 0) return 0;
  const distance = Math.sqrt(sum) / scale;
  return Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
}

/**
 * Sums and norms of the columns of [N, width]. Towers may have the patches of an image in other orders,
 * in which no patch sees another differently.
 */
function orderless(values: ArrayLike<number>, width: number): Float64Array {
  const rows = values.length / width;
  const result = new Float64Array(2 * width);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    result[i % width] = (result[i % width] as number) + value / Math.sqrt(rows);
    result[width + (i % width)] = (result[width + (i % width)] as number) + value ** 2;
  }
  for (let i = width; i < 2 * width; i++) result[i] = Math.sqrt(result[i] as number);
  return result;
}

function norm(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2;
  return Math.sqrt(sum);
}

/**
 * Positions, vision blocks, features, decoder layers, final norm, log-probs, and gradients, in the
 * order of the forward.
 *
 * @param blockNames  names of blocks by part
 */
export function compareParts(
  ours: ValuesByPart,
  theirs: ReadonlyMap<string, NamedArray>,
  blockNames: ReadonlyMap<string, string>,
  model: LanguageModel,
  gate: number,
): readonly ComparedPart[] {
  const keys = [...ours.keys()];
  const numbered = (prefix: string) => keys.filter((key) => key.startsWith(`${prefix}.`));
  const order = [
    'positions',
    ...numbered('vision'),
    ...numbered('features'),
    ...numbered('language'),
    'final',
    'logprobs',
  ];
  const forward = order.map((key): ComparedPart => {
    const own = ours.get(key) as Float32Array;
    const other = theirs.get(key)?.data;
    const what = labelOf(key, blockNames);
    const limit = key === 'positions' ? 0 : gate;
    if (other === undefined) return absent(what, limit);
    const width = key.startsWith('vision.') ? theirs.get(key)?.shape.at(-1) : undefined;
    const difference =
      width === undefined
        ? relativeDistance(own, other)
        : relativeDistance(orderless(own, width), orderless(other, width), norm(other));
    return {
      what,
      gate: limit,
      difference: key === 'positions' && difference > 0 ? Infinity : difference,
    };
  });
  return [...forward, ...compareGradients(ours, theirs, model, gate)];
}

function compareGradients(
  ours: ValuesByPart,
  theirs: ReadonlyMap<string, NamedArray>,
  model: LanguageModel,
  gate: number,
): readonly ComparedPart[] {
  const pairs = [...ours.keys()].flatMap((key) => {
    if (!key.startsWith('grad.')) return [];
    const name = key.slice('grad.'.length);
    const { name: stored, part } = model.storedAs(name);
    const found = [stored, ...model.alternatives(stored)]
      .map((one) => theirs.get(`grad.${one}`)?.data)
      .find((data) => data !== undefined);
    const size = (found?.length ?? 0) / (part?.of ?? 1);
    const start = (part?.index ?? 0) * size;
    return [
      { name, own: ours.get(key) as Float32Array, other: found?.subarray(start, start + size) },
    ];
  });
  const norms = pairs.map(({ other }) => norm(other ?? []));
  const mean = norms.reduce((sum, one) => sum + one, 0) / Math.max(1, norms.length);
  return pairs.map(({ name, own, other }, i): ComparedPart => {
    const what = `gradient of ${name}`;
    if (other === undefined) return absent(what, gate);
    const ownNorm = norms[i] ?? 0;
    const scale = ownNorm < ZERO * mean ? mean : ownNorm;
    return { what, gate, difference: relativeDistance(own, other, scale) };
  });
}

const absent = (what: string, gate: number): ComparedPart => ({
  what,
  gate,
  difference: Number.POSITIVE_INFINITY,
  problem: 'transformers gives none under this name',
});

function labelOf(key: string, blockNames: ReadonlyMap<string, string>): string {
  const [part, index] = key.split('.');
  const name = blockNames.get(key);
  switch (part) {
    case 'vision':
      return `vision block ${index} (${name})`;
    case 'features':
      return index === '0' ? 'image features' : `image features, level ${index}`;
    case 'language':
      return `decoder layer ${index} (${name})`;
    case 'final':
      return 'hidden states after the final norm';
    case 'logprobs':
      return 'log-probs';
    default:
      return key;
  }
}
