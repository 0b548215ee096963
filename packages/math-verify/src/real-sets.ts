/** Sets of real numbers as sorted unions of intervals; points are intervals of one number. */
import type { Budget } from './evaluate.ts';
import type { Expression } from './expression.ts';
import { defaultPrecision } from './precision.ts';
import { constantOf } from './scalars.ts';

interface Interval {
  readonly low: number;
  readonly high: number;
  readonly hasLow: boolean;
  readonly hasHigh: boolean;
}

/** Sorted, and nothing overlaps or touches. */
export type RealSet = readonly Interval[];

const everything: RealSet = [
  {
    low: Number.NEGATIVE_INFINITY,
    high: Number.POSITIVE_INFINITY,
    hasLow: false,
    hasHigh: false,
  },
];

const isSame = (a: number, b: number, { exactTolerance } = defaultPrecision): boolean =>
  a === b ||
  (Number.isFinite(a) &&
    Number.isFinite(b) &&
    Math.abs(a - b) <= exactTolerance * Math.max(Math.abs(a), Math.abs(b)));

function merged(intervals: readonly Interval[]): RealSet {
  const sorted = intervals
    .filter(({ low, high, hasLow, hasHigh }) => low < high || (low === high && hasLow && hasHigh))
    .sort((a, b) => a.low - b.low || Number(b.hasLow) - Number(a.hasLow));
  const result: Interval[] = [];
  for (const next of sorted) {
    const last = result.at(-1);
    const touches =
      last !== undefined &&
      (next.low < last.high || (isSame(next.low, last.high) && (next.hasLow || last.hasHigh)));
    if (!touches) {
      result.push(next);
      continue;
    }
    const isLonger = next.high > last.high;
    const hasHigh = isSame(next.high, last.high)
      ? last.hasHigh || next.hasHigh
      : (isLonger ? next : last).hasHigh;
    result[result.length - 1] = { ...last, high: Math.max(last.high, next.high), hasHigh };
  }
  return result;
}

function complement(set: RealSet): RealSet {
  const gaps: Interval[] = [];
  let low = Number.NEGATIVE_INFINITY;
  let hasLow = false;
  for (const interval of set) {
    gaps.push({ low, high: interval.low, hasLow, hasHigh: !interval.hasLow });
    low = interval.high;
    hasLow = !interval.hasHigh;
  }
  gaps.push({ low, high: Number.POSITIVE_INFINITY, hasLow, hasHigh: false });
  return merged(gaps.filter(({ low: from, high: to }) => !(from === to && !Number.isFinite(from))));
}

const intersection = (a: RealSet, b: RealSet): RealSet =>
  complement(merged([...complement(a), ...complement(b)]));

/** An expression as a set of reals; undefined if it is none, or its ends hold symbols. */
export function realSetOf(expression: Expression, budget: Budget): RealSet | undefined {
  switch (expression.kind) {
    case 'numberSet':
      return expression.name === 'R' ? everything : undefined;
    case 'set': {
      const points = expression.items.map((item) => constantOf(item, budget));
      if (!points.every((point) => point !== undefined)) return undefined;
      return merged(points.map((p) => ({ low: p, high: p, hasLow: true, hasHigh: true })));
    }
    case 'bracketed': {
      if (expression.items.length !== 2) return undefined;
      const [low, high] = expression.items.map((item) => constantOf(item, budget));
      if (low === undefined || high === undefined || low > high) return undefined;
      const hasLow = expression.open === '[' && Number.isFinite(low);
      const hasHigh = expression.close === ']' && Number.isFinite(high);
      return merged([{ low, high, hasLow, hasHigh }]);
    }
    case 'setOperation': {
      const left = realSetOf(expression.left, budget);
      const right = realSetOf(expression.right, budget);
      if (left === undefined || right === undefined) return undefined;
      if (expression.operation === '∪') return merged([...left, ...right]);
      return intersection(left, expression.operation === '∩' ? right : complement(right));
    }
    default:
      return undefined;
  }
}

/** `1 < x ≤ 2`, `x ≥ 3`, `x ≠ 0`: a relation solved for one symbol, as the set of its solutions. */
export function solvedSetOf(expression: Expression, budget: Budget): RealSet | undefined {
  if (expression.kind !== 'relation') return undefined;
  const { relations, sides } = expression;
  if (sides.filter((side) => side.kind === 'symbol').length !== 1) return undefined;
  let set = everything;
  for (const [index, relation] of relations.entries()) {
    const [left, right] = [sides[index], sides[index + 1]];
    if (left === undefined || right === undefined) return undefined;
    const bound = constantOf(left.kind === 'symbol' ? right : left, budget);
    if ((left.kind === 'symbol') === (right.kind === 'symbol') || bound === undefined) {
      return undefined;
    }
    if (relation === '≠') {
      const point = { low: bound, high: bound, hasLow: true, hasHigh: true };
      set = intersection(set, complement([point]));
    } else if (relation === '=' || relation === '∈') {
      return undefined;
    } else {
      const isUpper = (left.kind === 'symbol') === (relation === '<' || relation === '≤');
      const isClosed = relation === '≤' || relation === '≥';
      const half = isUpper
        ? { low: Number.NEGATIVE_INFINITY, high: bound, hasLow: false, hasHigh: isClosed }
        : { low: bound, high: Number.POSITIVE_INFINITY, hasLow: isClosed, hasHigh: false };
      set = intersection(set, merged([half]));
    }
  }
  return set;
}

export function areEqualSets(a: RealSet, b: RealSet, { precision }: Budget): boolean {
  return (
    a.length === b.length &&
    a.every((interval, index) => {
      const other = b[index];
      return (
        other !== undefined &&
        isSame(interval.low, other.low, precision) &&
        isSame(interval.high, other.high, precision) &&
        interval.hasLow === other.hasLow &&
        interval.hasHigh === other.hasHigh
      );
    })
  );
}
