/** Equations, solved for one of their letters; every root is put in again. */
import { MathError } from './errors.ts';
import {
  algebra,
  differenceOf,
  type Formula,
  prettyAlgebra,
  readAlgebra,
  readFormula,
  valueAt,
} from './expression.ts';
import type { MathAnswer } from './math-answer.ts';
import { realRoots } from './real-roots.ts';
import { is, nice, shortNumber } from './write-number.ts';

export interface Equation {
  readonly left: Formula;
  readonly right: Formula;
  /** As it was written. */
  readonly text: string;
}

export function readEquation(text: string): Equation {
  const [left, right, ...more] = text.split('=');
  if (left === undefined || right === undefined || more.length > 0) {
    throw new MathError(`"${text}" is no equation.`);
  }
  return { left: readFormula(left), right: readFormula(right), text: text.trim() };
}

interface Root {
  readonly text: string;
  readonly value: number;
}

/** Solves an equation for one of its letters. */
export function solveEquation(equation: Equation, letter: string): MathAnswer {
  const others = lettersOf(equation).filter((one) => one !== letter);
  if (others.length > 0) return solveForLetter(equation, letter);
  const difference = differenceOf(equation.left, equation.right);
  const steps = [equation.text, `Bring everything to one side: ${written(difference)} = 0`];
  if (isAlways(difference, letter)) {
    return { answer: `every ${letter} for which both sides are defined`, values: [], steps };
  }
  if (isPeriodic(difference)) return periodic(equation, difference, letter, steps);
  const { roots, isComplete } = rootsOf(difference, letter);
  const factored = factoredSide(difference, letter);
  if (factored !== undefined) steps.push(`Factor: ${factored} = 0`);
  const kept = roots.filter(({ value }) => fits(equation, letter, value));
  for (const { text, value } of roots.filter((root) => !kept.includes(root))) {
    steps.push(`${letter} = ${text} does not satisfy the equation (${shortNumber(value)}).`);
  }
  if (kept.length === 0) {
    if (isComplete) return { answer: 'no real solution', values: [], steps };
    throw new MathError('No solution was found.');
  }
  for (const { text, value } of kept) steps.push(check(equation, letter, text, value));
  const answer = kept.map(({ text }) => is(letter, text)).join(' or ');
  return { answer, values: kept.map(({ value }) => value), steps };
}

export function lettersOf({ left, right }: Equation): readonly string[] {
  return [...new Set([...left.letters, ...right.letters])];
}

function written(formula: Formula): string {
  return prettyAlgebra(algebra(`expand(${formula.algebra})`));
}

function factoredSide(difference: Formula, letter: string): string | undefined {
  try {
    const factored = algebra(`factor(${difference.algebra})`);
    const isProduct = /\)\s*\*\s*\(|\)\^\d|\)\*[a-z]|[a-z]\*\(/.test(factored);
    return isProduct && agrees(difference, readAlgebra(factored), letter)
      ? prettyAlgebra(factored)
      : undefined;
  } catch {
    return undefined;
  }
}

const samples = [-3.7, -1.3, -0.6, 0.4, 0.9, 1.7, 2.6, 5.3];

function agrees(a: Formula, b: Formula, letter: string): boolean {
  return samples.every((at) => {
    const [left, right] = [valueAt(a, { [letter]: at }), valueAt(b, { [letter]: at })];
    return Number.isNaN(left) || Math.abs(left - right) <= 1e-8 * (1 + Math.abs(left));
  });
}

function isAlways(difference: Formula, letter: string): boolean {
  const values = samples.map((at) => valueAt(difference, { [letter]: at }));
  const defined = values.filter((value) => !Number.isNaN(value));
  return defined.length > 2 && defined.every((value) => Math.abs(value) < 1e-10);
}

/**
 * The roots that the algebra system gives, exact ones as it writes them; those that only a scan finds are
 * added as decimals.
 */
function rootsOf(
  difference: Formula,
  letter: string,
): { readonly roots: readonly Root[]; readonly isComplete: boolean } {
  const roots: Root[] = [];
  for (const text of solutions(difference, letter)) {
    const root = rootOf(text);
    if (root !== undefined && !roots.some(({ value }) => isSame(value, root.value)))
      roots.push(root);
  }
  const scan = realRoots((at) => valueAt(difference, { [letter]: at }));
  for (const value of scan) {
    if (roots.some((root) => isSame(root.value, value))) continue;
    roots.push({ text: nice(value), value });
  }
  const isComplete = difference.letters.length === 1;
  return { roots: roots.sort((a, b) => a.value - b.value), isComplete };
}

function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * (1 + Math.abs(a));
}

export function solutions(difference: Formula, letter: string): readonly string[] {
  try {
    const list = algebra(`solve(${difference.algebra}, ${letter})`);
    return splitList(list);
  } catch (error) {
    if (error instanceof MathError) return [];
    throw error;
  }
}

/** `[a, b(c, d)]` has two entries. */
function splitList(list: string): readonly string[] {
  const entries: string[] = [];
  let [depth, entry] = [0, ''];
  for (const symbol of list.replace(/^\[|\]$/g, '')) {
    if (symbol === '(') depth++;
    if (symbol === ')') depth--;
    if (symbol === ',' && depth === 0) {
      entries.push(entry);
      entry = '';
    } else entry += symbol;
  }
  return [...entries, entry].filter((one) => one.trim() !== '');
}

function rootOf(text: string): Root | undefined {
  try {
    const value = valueAt(readAlgebra(text));
    if (!Number.isFinite(value)) return undefined;
    // A fraction of large numbers is a decimal that the algebra system found by iteration.
    const isDecimal = /\d{6,}/.test(text);
    return { value, text: isDecimal ? nice(value) : prettyAlgebra(text) };
  } catch (error) {
    if (error instanceof MathError) return undefined;
    throw error;
  }
}

function fits({ left, right }: Equation, letter: string, value: number): boolean {
  const [a, b] = [valueAt(left, { [letter]: value }), valueAt(right, { [letter]: value })];
  return Math.abs(a - b) <= 1e-6 * (1 + Math.abs(a) + Math.abs(b));
}

function check({ left, right }: Equation, letter: string, text: string, value: number): string {
  const [a, b] = [left, right].map((side) => shortNumber(valueAt(side, { [letter]: value })));
  return `Check ${is(letter, text)}: left side ${a}, right side ${b}.`;
}

/** An equation with other letters is solved for one of them. */
function solveForLetter(equation: Equation, letter: string): MathAnswer {
  const difference = differenceOf(equation.left, equation.right);
  const found = solutions(difference, letter).filter((text) => {
    const values = Object.fromEntries(
      difference.letters.map((one, index) => [one, 1.3 + index * 0.77]),
    );
    const at = valueAt(readAlgebra(text), values);
    const rest = valueAt(difference, { ...values, [letter]: at });
    return Math.abs(rest) < 1e-6;
  });
  if (found.length === 0) throw new MathError(`It could not be solved for ${letter}.`);
  const answer = found.map((text) => `${letter} = ${prettyAlgebra(text)}`).join(' or ');
  return { answer, values: [], steps: [equation.text, `Solve for ${letter}: ${answer}`] };
}

function isPeriodic({ algebra: text }: Formula): boolean {
  return /\b(?:sin|cos|tan|cot|sec|csc)\(/.test(text);
}

/** Trigonometric equations have infinitely many roots: those of one turn are given. */
function periodic(
  equation: Equation,
  difference: Formula,
  letter: string,
  steps: readonly string[],
): MathAnswer {
  const turn = 2 * Math.PI;
  const roots = realRoots((at) => valueAt(difference, { [letter]: at }), -1e-9, turn - 1e-6).filter(
    (value) => fits(equation, letter, value),
  );
  const all = [...steps, 'Look for roots from 0 to 2π (one turn).'];
  if (roots.length === 0)
    return { answer: 'no real solution from 0 to 2π', values: [], steps: all };
  const texts = roots.map((value) => is(letter, partOfPi(value)));
  for (const value of roots) all.push(check(equation, letter, partOfPi(value), value));
  return { answer: `${texts.join(' or ')} (from 0 to 2π)`, values: roots, steps: all };
}

function partOfPi(value: number): string {
  for (const denominator of [1, 2, 3, 4, 5, 6, 8, 10, 12]) {
    const numerator = Math.round((value / Math.PI) * denominator);
    if (Math.abs((numerator * Math.PI) / denominator - value) > 1e-6) continue;
    if (numerator === 0) return '0';
    return `${numerator === 1 ? '' : numerator}π${denominator === 1 ? '' : `/${denominator}`}`;
  }
  return `≈ ${shortNumber(value)}`;
}
