/** The weights of an antialiased resize, in the fixed-point numbers of Pillow or of torch. */
import { RecentResults } from '../recent-results.ts';
import { type FilterName, filterOf } from './filters.ts';

/**
 * Whose arithmetic: Pillow's `Image.resize` (22-bit weights), or that of torch's `interpolate` on
 * bytes, which torchvision's `resize` is (16-bit weights). Their bytes differ by at most 1.
 */
export type Arithmetic = 'pillow' | 'torchvision';

/** For each output place, the input places it mixes. */
export interface Windows {
  /** Input places mixed per output place, as many for each. */
  readonly taps: number;
  /** [outputs]: the first of them. */
  readonly firsts: Int32Array;
  /** [outputs, taps]: fixed-point weights; each row sums to about 2^bits. */
  readonly weights: Int32Array;
  readonly bits: number;
}

/** 32 bits, without the 8 of a byte and 2 for the overshoot of negative weights. */
const PILLOW_BITS = 32 - 8 - 2;

/** As many as keep the largest weight below 2¹⁵, at most 22. */
function torchBits(largest: number): number {
  let bits = 0;
  while (bits < 22 && Math.trunc(0.5 + largest * 2 ** (bits + 1)) < 1 << 15) bits++;
  return bits;
}

/** A task set has images of few sizes; the weights of one take a sixth of a resize. */
const recent = new RecentResults<Windows>(32);

/**
 * The kernel widens when shrinking. Windows cut by a border are filled up with weights of zero. The
 * same arrays for the same sizes: do not write to them.
 */
export function windows(
  inputSize: number,
  outputSize: number,
  filter: FilterName,
  arithmetic: Arithmetic,
): Windows {
  return recent.of(`${inputSize} ${outputSize} ${filter} ${arithmetic}`, () =>
    makeWindows(inputSize, outputSize, filter, arithmetic),
  );
}

function makeWindows(
  inputSize: number,
  outputSize: number,
  filter: FilterName,
  arithmetic: Arithmetic,
): Windows {
  const { support: radius, weight } = filterOf(filter);
  const scale = inputSize / outputSize;
  const stretch = Math.max(scale, 1);
  const support = radius * stretch;
  const taps = Math.min(inputSize, Math.ceil(2 * support) + 1);
  const firsts = new Int32Array(outputSize);
  const exact = new Float64Array(outputSize * taps);
  let largest = 0;
  for (let place = 0; place < outputSize; place++) {
    const center = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const end = Math.min(inputSize, Math.trunc(center + support + 0.5));
    const raw = Float64Array.from({ length: end - first }, (_, i) =>
      weight((i + first - center + 0.5) / stretch),
    );
    const total = raw.reduce((sum, w) => sum + w, 0);
    const start = Math.min(first, inputSize - taps);
    firsts[place] = start;
    raw.forEach((w, i) => {
      exact[place * taps + first - start + i] = w / total;
      largest = Math.max(largest, w / total);
    });
  }
  const bits = arithmetic === 'pillow' ? PILLOW_BITS : torchBits(largest);
  const weights = Int32Array.from(exact, (value) => {
    const fixed = value * (1 << bits);
    return Math.trunc(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
  });
  return { taps, firsts, weights, bits };
}
