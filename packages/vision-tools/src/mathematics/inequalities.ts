/** Inequalities in one unknown: the roots of both sides divide the line, a value in each part decides. */
import { MathError } from './errors.ts';
import { readFormula, valueAt } from './expression.ts';
import type { MathAnswer } from './math-answer.ts';
import { realRoots } from './real-roots.ts';
import { nice, shortNumber } from './write-number.ts';

const signs = /<=|>=|<|>/;

/** undefined if the text has no sign of an inequality, or more than one. */
export function solveInequality(text: string): MathAnswer | undefined {
  const [left, right, ...more] = text.split(signs);
  const sign = signs.exec(text)?.[0];
  if (left === undefined || right === undefined || more.length > 0 || sign === undefined)
    return undefined;
  const difference = readFormula(`(${left}) - (${right})`);
  const [letter, ...others] = difference.letters;
  if (letter === undefined || others.length > 0) {
    throw new MathError('An inequality needs exactly one unknown.');
  }
  const value = (at: number): number => valueAt(difference, { [letter]: at });
  const holds = (at: number): boolean => {
    const there = value(at);
    return sign.startsWith('<') ? there < 0 : there > 0;
  };
  const zeros = realRoots(value);
  const edges = [...zeros, ...poles(value)].sort((a, b) => a - b);
  const isClosed = sign.endsWith('=');
  const parts: string[] = [];
  const bounds = [Number.NEGATIVE_INFINITY, ...edges, Number.POSITIVE_INFINITY];
  let open: { from: number; isIncluded: boolean } | undefined;
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    const to = bounds[index + 1] ?? Number.POSITIVE_INFINITY;
    const isFromZero = isClosed && zeros.includes(from);
    if (!holds(inside(from, to))) {
      // A root alone satisfies ≤ where neither side of it does.
      const isNextOpen = index + 2 < bounds.length && holds(inside(to, bounds[index + 2] ?? to));
      if (isClosed && zeros.includes(to) && !isNextOpen) parts.push(`${letter} = ${nice(to)}`);
      continue;
    }
    open ??= { from, isIncluded: isFromZero };
    const next = bounds[index + 2];
    const goesOn = next !== undefined && isClosed && zeros.includes(to) && holds(inside(to, next));
    if (goesOn) continue;
    parts.push(part(letter, open.from, open.isIncluded, to, isClosed && zeros.includes(to)));
    open = undefined;
  }
  const answer = parts.length === 0 ? 'no solution' : parts.join(' or ');
  const steps = [
    text.trim(),
    `Both sides are equal at: ${zeros.length === 0 ? 'no value' : zeros.map(nice).join(', ')}.`,
    `A value between each two of these decides: ${answer}.`,
  ];
  return { answer, values: zeros, steps };
}

function inside(from: number, to: number): number {
  if (from === Number.NEGATIVE_INFINITY)
    return to === Number.POSITIVE_INFINITY ? 0.1234 : to - 1.2345;
  if (to === Number.POSITIVE_INFINITY) return from + 1.2345;
  return from + (to - from) * 0.4321;
}

function part(letter: string, from: number, isFrom: boolean, to: number, isTo: boolean): string {
  const left = `${isFrom ? '≤' : '<'}`;
  const right = `${isTo ? '≤' : '<'}`;
  if (from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY)
    return `every ${letter}`;
  if (from === Number.NEGATIVE_INFINITY) return `${letter} ${right} ${nice(to)}`;
  if (to === Number.POSITIVE_INFINITY) return `${letter} ${isFrom ? '≥' : '>'} ${nice(from)}`;
  return `${nice(from)} ${left} ${letter} ${right} ${nice(to)}`;
}

/** Where a function jumps from one sign to the other without a root, or begins to be defined. */
function poles(value: (at: number) => number): readonly number[] {
  const found: number[] = [];
  for (const at of realRoots((x) => 1 / value(x))) {
    if (Math.abs(value(at + 1e-7)) > 1e4) found.push(Number(shortNumber(at, 8)));
  }
  return found;
}
