/** Numbers of the report: intervals, smoothing, and how they are written. */
import { wilson } from '@saccade/statistics';

/** A confidence interval, in the unit of the quantity it is for. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Wilson's 95 % interval of a share that was written down without its successes.
 *
 * @param proportion share of successes, 0…1
 * @param count      trials; without any, nothing is known: 0…1
 */
export function wilsonInterval(proportion: number, count: number): Interval {
  if (!(count > 0)) return { low: 0, high: 1 };
  const { low, high } = wilson(Math.round(proportion * count), count);
  return { low, high };
}

/**
 * Mean of the values around each, as many before as after, so that a curve is not shifted.
 *
 * At the ends the window shrinks with what is available. Values that are not finite are passed
 * over.
 *
 * @param reach values on each side
 */
export function smooth(values: readonly number[], reach: number): readonly number[] {
  return values.map((value, index) => {
    if (!Number.isFinite(value)) return Number.NaN;
    const side = Math.min(reach, index, values.length - 1 - index);
    const near = values.slice(index - side, index + side + 1).filter(Number.isFinite);
    return near.reduce((sum, other) => sum + other, 0) / near.length;
  });
}

/** Round numbers (1, 2 or 5 times a power of ten) that cover low…high, about `count` of them. */
export function roundTicks(low: number, high: number, count: number): readonly number[] {
  const [from, to] = high > low ? [low, high] : widen(low);
  const raw = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10);
  const first = Math.floor(from / step + 1e-9);
  const last = Math.ceil(to / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toFixed(12)),
  );
}

/** A range around a single value. */
function widen(value: number): readonly [number, number] {
  if (value === 0) return [0, 1];
  const room = Math.abs(value) / 2;
  return [value - room, value + room];
}

/** A number as short as it stays readable: four significant digits, no trailing zeros. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return minus(String(value));
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return minus(shortExponent(value));
  return minus(String(Number(value.toPrecision(4))));
}

/**
 * A share as percent, with a typographic minus: `formatPercent(0.915)` is `91.5 %`. A value that
 * is not finite is `–`.
 */
export function formatPercent(share: number, digits = 1): string {
  return Number.isFinite(share) ? `${minus((100 * share).toFixed(digits))} %` : '–';
}

/** With its sign, so that a difference reads as one. */
export function formatDifference(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return `±${text}`;
  return `${value > 0 ? '+' : '−'}${text}`;
}

/** Seconds as people say them: `42 s`, `7 min 5 s`, `1 h 12 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function shortExponent(value: number): string {
  return value.toExponential(2).replace(/\.?0*e\+?/, 'e');
}

function minus(text: string): string {
  return text.replace(/^-/, '−');
}
