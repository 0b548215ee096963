/** Whether a server's gradients are linear in what it is given, and what it divides them by. */
import type { LinearPath } from '../remote/gradient-path.ts';
import type { Finding } from './measurement.ts';
import { type Channel, type Probe, type ProbeRow, probeRow } from './probe.ts';

/** How near a ratio has to be; servers in bf16 round at 4e-3. */
export interface Tolerances {
  readonly ratio: number;
  readonly zero: number;
}

/** Whether a channel is linear, and its factors. */
export interface Linearity {
  readonly isLinear: boolean;
  readonly path?: LinearPath;
  readonly findings: readonly Finding[];
  /** Norm of Σ w·∂logprob/∂θ for the row and weights of the measurement. */
  readonly norm: number;
}

export const ROW_LENGTH = 10;
const SHORT = 4;

/** Weights of a measurement: positive, and none like another. */
export function weightsOf({ targets }: ProbeRow): Float32Array {
  return Float32Array.from(targets, (_, i) => 0.5 + ((i * 7) % 10) / 10);
}

export async function measureLinearity(
  probe: Probe,
  channel: Channel,
  vocabulary: number,
  near: Tolerances,
): Promise<Linearity> {
  const row = probeRow(1, ROW_LENGTH, vocabulary);
  const w = weightsOf(row);
  const findings: Finding[] = [];
  type Part = readonly (readonly [ProbeRow, Float32Array])[];
  const norm = async (...calls: readonly Part[]): Promise<number> => {
    for (const call of calls) await probe.ascend(call, channel);
    return await probe.norm();
  };
  const times = (c: Float32Array, factor: number) => c.map((value) => value * factor);
  const one = await norm([[row, w]]);
  const expectRatio = (name: string, got: number, want: number): boolean => {
    const isGood = Math.abs(got / one - want) <= near.ratio * Math.max(1, want);
    findings.push({ name, isGood, detail: `${(got / one).toPrecision(5)}, expected ${want}` });
    return isGood;
  };
  const expectZero = (name: string, got: number): boolean => {
    const isGood = got <= near.zero * one;
    findings.push({ name, isGood, detail: `${(got / one).toPrecision(3)}, expected 0` });
    return isGood;
  };
  const isThere = Number.isFinite(one) && one > 0;
  findings.push({
    name: `${channel}: a gradient`,
    isGood: isThere,
    detail: `norm ${one.toPrecision(5)}`,
  });
  if (!isThere) return { isLinear: false, findings, norm: one };
  const mixed = w.map((value, i) => (i % 2 === 0 ? value : -0.7 * value));
  const rest = w.map((value, i) => -(value + (mixed[i] as number)));
  const head = w.map((value, i) => (i < SHORT ? value : 0));
  const tail = w.map((value, i) => (i < SHORT ? 0 : value));
  const checks = [
    expectRatio(`${channel}: ‖g(2w)‖ / ‖g(w)‖`, await norm([[row, times(w, 2)]]), 2),
    expectRatio(`${channel}: ‖g(−w)‖ / ‖g(w)‖`, await norm([[row, times(w, -1)]]), 1),
    expectZero(`${channel}: ‖g(w) + g(−w)‖`, await norm([[row, w]], [[row, times(w, -1)]])),
    expectZero(
      `${channel}: ‖g(u) + g(v) − g(u + v)‖, signs mixed`,
      await norm([[row, w]], [[row, mixed]], [[row, rest]]),
    ),
    expectZero(
      `${channel}: ‖g(head) + g(tail) − g(w)‖, zeros among weights`,
      await norm([[row, head]], [[row, tail]], [[row, times(w, -1)]]),
    ),
  ];
  const twoCalls = await norm([[row, w]], [[row, w]]);
  const isLinear = checks.every((isGood) => isGood);
  if (channel === 'backward') {
    const isSum = expectRatio(`${channel}: two calls`, twoCalls, 2);
    return { isLinear: isLinear && isSum, findings, norm: one };
  }
  if (!isLinear) return { isLinear, findings, norm: one };
  const perStep = factorOf(twoCalls / one, 2, 1, near.ratio);
  const perDatum = factorOf(
    (await norm([
      [row, w],
      [row, w],
    ])) / one,
    2,
    1,
    near.ratio,
  );
  const cut = { tokens: row.tokens.subarray(0, SHORT), targets: row.targets.subarray(0, SHORT) };
  const long = await norm([[row, head]]);
  const short = await norm([[cut, w.subarray(0, SHORT)]]);
  const perToken = factorOf(long / short, 1, SHORT / ROW_LENGTH, near.ratio);
  findings.push({
    name: `${channel}: divides by the data of a request`,
    isGood: perDatum !== undefined,
    detail: String(perDatum ?? 'by something else'),
  });
  findings.push({
    name: `${channel}: divides by the data of all requests of a step`,
    isGood: perStep !== undefined,
    detail: String(perStep ?? `by something else: ${(twoCalls / one).toPrecision(4)}`),
  });
  findings.push({
    name: `${channel}: divides by the positions of a datum`,
    isGood: perToken !== undefined,
    detail: String(perToken ?? `by something else: ${(long / short).toPrecision(4)}`),
  });
  // A mean over a step is one over each request of it.
  const isKnown = perDatum !== undefined && perToken !== undefined && perStep !== undefined;
  if (!isKnown || (perStep && !perDatum)) return { isLinear: false, findings, norm: one };
  const path = { loss: channel, perDatum, perToken, ...(perStep && { perStep }), scale: 1 };
  return { isLinear, path, findings, norm: one };
}

/** False for the ratio of a sum, true for that of a mean; undefined for any other. */
function factorOf(ratio: number, sum: number, mean: number, near: number): boolean | undefined {
  if (Math.abs(ratio - sum) <= near * sum) return false;
  return Math.abs(ratio - mean) <= near * mean ? true : undefined;
}
