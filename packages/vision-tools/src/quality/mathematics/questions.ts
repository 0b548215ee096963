/** The questions of `quality/mathematics`, and whether what a tool says answers them. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { MathError } from '../../mathematics/errors.ts';
import { readFormula, valueAt } from '../../mathematics/expression.ts';
import { plainMath } from '../../mathematics/plain.ts';

const pair = <Value extends z.ZodType>(value: Value) => z.array(z.tuple([z.number(), value]));

const mathQuestion = z.strictObject({
  kind: z.string(),
  question: z.string(),
  roots: z.array(z.number()).optional(),
  solutions: z.array(z.record(z.string(), z.number())).optional(),
  number: z.number().optional(),
  samples: pair(z.number()).optional(),
  isPrimitive: z.boolean().default(false),
  holds: pair(z.boolean()).optional(),
});

export type MathQuestion = z.output<typeof mathQuestion>;

const file = new URL('../../../quality/mathematics/questions.json', import.meta.url);

export async function mathQuestions(): Promise<readonly MathQuestion[]> {
  return z.array(mathQuestion).parse(JSON.parse(await readFile(file, 'utf8')));
}

/** Whether a question has an answer at all. */
export function hasAnswer({ roots, solutions, number, samples, holds }: MathQuestion): boolean {
  return [roots, solutions, number, samples, holds].some((one) => one !== undefined);
}

/** Whether an answer says what is true, to five digits. */
export function isRightAnswer(said: string, question: MathQuestion): boolean {
  const { roots, solutions, number, samples, holds } = question;
  try {
    if (roots !== undefined) return isSameSet(rootsIn(said), roots);
    if (solutions !== undefined) return isSameSolutions(said, solutions);
    if (number !== undefined) return isNear(valueIn(said), number);
    if (samples !== undefined) return isSameFunction(said, question, samples);
    return holds?.every(([at, isTrue]) => holdsAt(said, at) === isTrue) ?? false;
  } catch (error) {
    if (error instanceof MathError) return false;
    throw error;
  }
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-5 * (1 + Math.abs(b));
}

/** The value of `3/2`, `x = √2`, `x ≈ 1.41421` or `2√3 ≈ 3.4641`. */
function valueIn(text: string, scope: Readonly<Record<string, number>> = {}): number {
  const side = text.split(/[=≈]/).at(-1) ?? '';
  return valueAt(readFormula(plainMath(side.trim())), scope);
}

function rootsIn(said: string): readonly number[] {
  if (said.startsWith('no ')) return [];
  return said.split(' or ').map((part) => valueIn(part));
}

function isSameSet(found: readonly number[], truth: readonly number[]): boolean {
  const [a, b] = [found, truth].map((all) => all.toSorted((one, other) => one - other));
  return (
    a?.length === b?.length && (a ?? []).every((one, at) => isNear(one, b?.[at] ?? Number.NaN))
  );
}

function isSameSolutions(
  said: string,
  truth: readonly Readonly<Record<string, number>>[],
): boolean {
  const found = said
    .split(' or ')
    .map((one) =>
      Object.fromEntries(
        one.split(',').map((part) => [part.trim()[0] ?? '', valueIn(part)] as const),
      ),
    );
  return (
    found.length === truth.length &&
    truth.every((one) =>
      found.some((other) =>
        Object.entries(one).every(([letter, value]) => isNear(other[letter] ?? Number.NaN, value)),
      ),
    )
  );
}

function isSameFunction(
  said: string,
  { isPrimitive }: MathQuestion,
  samples: readonly (readonly [number, number])[],
): boolean {
  const body = said.replace(/\s*\+\s*C$/, '');
  const away = samples.map(([x, value]) => valueIn(body, { x }) - value);
  const shift = isPrimitive ? (away[0] ?? 0) : 0;
  return away.every(
    (one, at) => Math.abs(one - shift) <= 1e-5 * (1 + Math.abs(samples[at]?.[1] ?? 0)),
  );
}

/** Whether a number is among what an answer such as `x < 2 or 3 ≤ x < 5` allows. */
function holdsAt(said: string, at: number): boolean {
  if (said.startsWith('every')) return true;
  if (said.startsWith('no ')) return false;
  return said.split(' or ').some((part) => {
    const sides = part.split(/([<>≤≥=])/).map((one) => one.trim());
    const value = (text = ''): number => (text === 'x' ? at : valueIn(text));
    return sides.every((sign, index) => {
      if (index % 2 === 0) return true;
      const [left, right] = [value(sides[index - 1]), value(sides[index + 1])];
      if (sign === '=') return left === right;
      if (sign === '<') return left < right;
      if (sign === '>') return left > right;
      return sign === '≤' ? left <= right : left >= right;
    });
  });
}
