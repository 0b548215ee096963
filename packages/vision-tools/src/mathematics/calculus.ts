/** Derivatives, integrals, limits and rearrangements; each is compared with numbers before it is given. */
import { MathError } from './errors.ts';
import {
  algebra,
  type Formula,
  prettyAlgebra,
  readAlgebra,
  readFormula,
  valueAt,
} from './expression.ts';
import type { MathAnswer } from './math-answer.ts';
import { nice, shortNumber } from './write-number.ts';

const samples = [0.37, 0.81, 1.43, 2.17, 3.29, -0.53, -1.71];
const tolerance = 1e-5;

/** Letters other than the one that matters get some value. */
function scope(formula: Formula, letter: string, at: number): Record<string, number> {
  const others = formula.letters.filter((one) => one !== letter);
  return { ...Object.fromEntries(others.map((one, i) => [one, 1.1 + i * 0.3])), [letter]: at };
}

/** Whether two functions agree wherever both have a value. */
function agree(a: (at: number) => number, b: (at: number) => number): boolean {
  let count = 0;
  for (const at of samples) {
    const [left, right] = [a(at), b(at)];
    if (!Number.isFinite(left) || !Number.isFinite(right)) continue;
    if (Math.abs(left - right) > tolerance * (1 + Math.abs(left))) return false;
    count++;
  }
  return count >= 2;
}

function slope(formula: Formula, letter: string): (at: number) => number {
  const step = 1e-5;
  return (at) =>
    (valueAt(formula, scope(formula, letter, at + step)) -
      valueAt(formula, scope(formula, letter, at - step))) /
    (2 * step);
}

export function derivative(text: string, letter: string, order: number): MathAnswer {
  const steps = [`f(${letter}) = ${text.trim()}`];
  let formula = readFormula(text);
  for (let count = 1; count <= order; count++) {
    const next = readAlgebra(algebra(`diff(${formula.algebra}, ${letter})`));
    const before = formula;
    const isRight = agree(slope(before, letter), (at) => valueAt(next, scope(before, letter, at)));
    if (!isRight) throw new MathError('The derivative could not be confirmed.');
    formula = next;
    steps.push(`f${"'".repeat(count)}(${letter}) = ${prettyAlgebra(formula.algebra)}`);
  }
  return { answer: prettyAlgebra(formula.algebra), values: [], steps };
}

export function integral(text: string, letter: string): MathAnswer {
  const formula = readFormula(text);
  const primitive = readAlgebra(algebra(`integrate(${formula.algebra}, ${letter})`));
  const isRight = agree(slope(primitive, letter), (at) =>
    valueAt(formula, scope(formula, letter, at)),
  );
  if (!isRight) throw new MathError('No antiderivative was found that could be confirmed.');
  const answer = `${prettyAlgebra(primitive.algebra)} + C`;
  const steps = [
    `∫ ${text.trim()} d${letter} = ${answer}`,
    'Check: its derivative is the integrand.',
  ];
  return { answer, values: [], steps };
}

export function definiteIntegral(
  text: string,
  letter: string,
  from: string,
  to: string,
): MathAnswer {
  const formula = readFormula(text);
  const [low, high] = [valueAt(readFormula(from)), valueAt(readFormula(to))];
  const value = simpson((at) => valueAt(formula, { [letter]: at }), low, high);
  if (!Number.isFinite(value)) throw new MathError('The integral has no finite value.');
  const exact = primitiveDifference(formula, letter, from, to);
  const isExact =
    exact !== undefined && Math.abs(exact.value - value) < 1e-6 * (1 + Math.abs(value));
  const answer = isExact ? exact.text : nice(value);
  const steps = [
    `∫ from ${from} to ${to} of ${text.trim()} d${letter}`,
    ...(isExact ? [`An antiderivative is ${prettyAlgebra(exact.primitive)}.`] : []),
    `The value is ${answer} (numerically ${shortNumber(value)}).`,
  ];
  return { answer, values: [value], steps };
}

function primitiveDifference(
  formula: Formula,
  letter: string,
  from: string,
  to: string,
): { readonly text: string; readonly value: number; readonly primitive: string } | undefined {
  try {
    const primitive = algebra(`integrate(${formula.algebra}, ${letter})`);
    const at = (end: string): string =>
      primitive.replaceAll(new RegExp(`\\b${letter}\\b`, 'g'), `(${end})`);
    const difference = algebra(`(${at(to)})-(${at(from)})`);
    const value = valueAt(readAlgebra(difference));
    const isLong = /\d{6,}/.test(difference);
    return { text: isLong ? nice(value) : prettyAlgebra(difference), value, primitive };
  } catch (error) {
    if (error instanceof MathError) return undefined;
    throw error;
  }
}

/** Composite Simpson's rule on 20,000 intervals. */
function simpson(value: (at: number) => number, from: number, to: number): number {
  const count = 20_000;
  const step = (to - from) / count;
  let total = value(from) + value(to);
  for (let index = 1; index < count; index++)
    total += (index % 2 === 0 ? 2 : 4) * value(from + index * step);
  return (total * step) / 3;
}

export function limit(text: string, letter: string, to: string): MathAnswer {
  const formula = readFormula(text);
  const target =
    to.trim() === 'inf'
      ? Number.POSITIVE_INFINITY
      : to.trim() === '-inf'
        ? Number.NEGATIVE_INFINITY
        : valueAt(readFormula(to));
  const near = nearby(target).map((at) => valueAt(formula, { [letter]: at }));
  const value = Number(algebraLimit(formula, letter, to));
  const isRight =
    Number.isFinite(value) &&
    near.every((one) => Math.abs(one - value) < 1e-3 * (1 + Math.abs(value)));
  const [first, second] = near;
  const converged =
    first !== undefined &&
    second !== undefined &&
    Math.abs(first - second) < 1e-4 * (1 + Math.abs(first))
      ? (first + second) / 2
      : undefined;
  const found = isRight ? value : converged;
  if (found === undefined || !Number.isFinite(found))
    throw new MathError('The limit could not be confirmed.');
  const answer = nice(isRight ? found : Number(found.toPrecision(5)));
  const steps = [
    `lim of ${text.trim()} as ${letter} → ${to.trim()}`,
    `Values nearby: ${near.map((one) => shortNumber(one)).join(', ')}.`,
  ];
  return { answer, values: [found], steps };
}

function nearby(target: number): readonly number[] {
  if (target === Number.POSITIVE_INFINITY) return [1e5, 1e6];
  if (target === Number.NEGATIVE_INFINITY) return [-1e5, -1e6];
  return [target + 1e-5, target - 1e-5];
}

function algebraLimit(formula: Formula, letter: string, to: string): number {
  try {
    const target = to.trim().replace('inf', 'Infinity');
    return valueAt(readAlgebra(algebra(`limit(${formula.algebra}, ${letter}, ${target})`)));
  } catch (error) {
    if (error instanceof MathError) return Number.NaN;
    throw error;
  }
}

/** Simplifies, expands or factors, and makes sure that the value stays the same. */
export function rearrange(task: 'simplify' | 'expand' | 'factor', text: string): MathAnswer {
  const formula = readFormula(text);
  const result = readAlgebra(algebra(`${task}(${formula.algebra})`));
  const letter = formula.letters[0];
  const values = (of: Formula) => (at: number) => valueAt(of, scope(formula, letter ?? 'x', at));
  if (!agree(values(formula), values(result))) {
    throw new MathError(`The algebra system's result could not be confirmed.`);
  }
  const answer = prettyAlgebra(result.algebra);
  const value = formula.letters.length === 0 ? [valueAt(formula)] : [];
  return { answer, values: value, steps: [`${text.trim()} = ${answer}`] };
}

/** The value of a formula of numbers: exact, and as a decimal where that is shorter. */
export function evaluate(text: string): MathAnswer {
  const formula = readFormula(text);
  const value = valueAt(formula);
  if (!Number.isFinite(value)) throw new MathError(`${text.trim()} has no real value.`);
  const exact = exactly(formula, value);
  const decimal = shortNumber(value, 10);
  const isRational =
    exact === undefined || Number.isInteger(value) || /^-?\d+(?:\/\d+)?$/.test(exact);
  const rational = Number.isInteger(value) ? decimal : (exact ?? decimal);
  const answer = isRational ? rational : `${exact} ≈ ${shortNumber(value)}`;
  return { answer, values: [value], steps: [`${text.trim()} = ${answer}`] };
}

function exactly(formula: Formula, value: number): string | undefined {
  try {
    const text = algebra(formula.algebra);
    const isSame = Math.abs(valueAt(readAlgebra(text)) - value) < 1e-9 * (1 + Math.abs(value));
    return isSame && !/\d{7,}\/\d/.test(text) && text.length < 60 ? prettyAlgebra(text) : undefined;
  } catch (error) {
    if (error instanceof MathError) return undefined;
    throw error;
  }
}
