/** Whether two scalar expressions are equal: exactly for whole numbers, else by probing. */
import { hashString, randomAt } from '@saccade/core';
import { type Complex, isFiniteNumber, isReal, magnitude, real, subtract } from './complex.ts';
import { type Budget, evaluate, type Point } from './evaluate.ts';
import { contains, type Expression, symbolsOf } from './expression.ts';

/** A number with a decimal point is taken as rounded. */
const isRounded = (expression: Expression): boolean =>
  contains(expression, (part) => part.kind === 'number' && part.isDecimal);

/** Whether a value is known without any symbol. */
export function constantOf(expression: Expression, budget: Budget): number | undefined {
  if (symbolsOf(expression).length > 0) return undefined;
  const value = evaluate(expression, new Map(), budget);
  return isReal(value) && !Number.isNaN(value.re) ? value.re : undefined;
}

/**
 * Points to probe at, the same for every call: magnitudes from a half to eight, both signs. The
 * first are positive, where roots and logarithms live.
 */
export function probePoints(names: readonly string[], { precision }: Budget): readonly Point[] {
  return Array.from({ length: precision.probes }, (_, index) => {
    const entries = names.map((name) => {
      const random = randomAt(hashString(name), index);
      const sign = index % 3 === 2 && random.uniform() < 0.7 ? -1 : 1;
      return [name, real(sign * (0.5 + 7.5 * random.uniform() ** 2))] as const;
    });
    return new Map(entries);
  });
}

export function areClose(a: Complex, b: Complex, tolerance: number): boolean {
  if (a.re === b.re && a.im === b.im) return true;
  return magnitude(subtract(a, b)) <= tolerance * Math.max(magnitude(a), magnitude(b)) * (1 + 1e-9);
}

/**
 * Whether two scalar expressions are equal.
 *
 * Whole numbers are compared digit by digit. Without symbols the values must agree to the exact
 * tolerance, or to the rounded one where one of them is written as a decimal. With symbols both are
 * evaluated at random real points; enough points where both are defined must agree, and none may differ (the test
 * of Schwartz and Zippel, over the reals). Where one side leaves the reals the point is not counted,
 * unless neither is real anywhere.
 */
export function areEqualScalars(a: Expression, b: Expression, budget: Budget): boolean {
  const [left, right] = [integerText(a), integerText(b)];
  if (left !== undefined && right !== undefined) return left === right;
  const { roundedTolerance, exactTolerance } = budget.precision;
  const tolerance = isRounded(a) || isRounded(b) ? roundedTolerance : exactTolerance;
  const names = symbolsOf(a, b);
  if (names.length === 0) {
    const [x, y] = [evaluate(a, new Map(), budget), evaluate(b, new Map(), budget)];
    if (Number.isNaN(x.re) || Number.isNaN(y.re)) return false;
    if (!isFiniteNumber(x) || !isFiniteNumber(y)) return x.re === y.re && isInfinite(a, b);
    return areClose(x, y, tolerance) || cancels(a, b, x, y);
  }
  if (names.length > 12) return false;
  return agreeAtPoints(
    probePoints(names, budget).map((point) => [
      evaluate(a, point, budget),
      evaluate(b, point, budget),
    ]),
    (x, y) => areClose(x, y, tolerance) || cancels(a, b, x, y),
    budget,
  );
}

/** Whether one side is nothing, and the other what float64 leaves of a sum such as sin π. */
function cancels(a: Expression, b: Expression, x: Complex, y: Complex): boolean {
  if (magnitude(x) !== 0 && magnitude(y) !== 0) return false;
  const isComputed = (part: Expression): boolean => part.kind === 'sum' || part.kind === 'call';
  const other = magnitude(x) === 0 ? b : a;
  return magnitude(subtract(x, y)) < 1e-12 && contains(other, isComputed);
}

/** Whether enough pairs are defined, and all of those pass. */
function agreeAtPoints(
  pairs: readonly (readonly [Complex, Complex])[],
  agrees: (x: Complex, y: Complex) => boolean,
  { precision }: Budget,
): boolean {
  const defined = pairs.filter(([x, y]) => isFiniteNumber(x) && isFiniteNumber(y));
  const realOnes = defined.filter(([x, y]) => isReal(x) && isReal(y));
  const counted = realOnes.length > 0 ? realOnes : defined;
  return counted.length >= precision.neededProbes && counted.every(([x, y]) => agrees(x, y));
}

/** Only what is written as infinity is infinite; an overflow is not. */
function isInfinite(a: Expression, b: Expression): boolean {
  const written = (part: Expression): boolean =>
    part.kind === 'constant' && part.name === 'infinity';
  return contains(a, written) && contains(b, written);
}

/** The digits of a whole number without leading zeros, its sign in front; else undefined. */
function integerText(expression: Expression): string | undefined {
  if (expression.kind === 'negate') {
    const inner = integerText(expression.of);
    if (inner === undefined || inner.startsWith('-')) return undefined;
    return inner === '0' ? inner : `-${inner}`;
  }
  if (expression.kind !== 'number' || !/^\d+$/.test(expression.text)) return undefined;
  return expression.text.replace(/^0+(?=\d)/, '');
}
