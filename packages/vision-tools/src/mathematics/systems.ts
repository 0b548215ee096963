/** Systems of equations: one is solved for a letter, which is put into the others. */
import { type Equation, lettersOf, solutions } from './equations.ts';
import { MathError } from './errors.ts';
import { differenceOf, type Formula, readAlgebra, valueAt } from './expression.ts';
import type { MathAnswer } from './math-answer.ts';
import { is, nice } from './write-number.ts';

const maxEquations = 6;
const maxBranches = 64;

type Values = Readonly<Record<string, number>>;

/** Solves several equations for all of their letters. */
export function solveEquations(equations: readonly Equation[]): MathAnswer {
  const letters = [...new Set(equations.flatMap(lettersOf))].sort();
  if (equations.length > maxEquations) {
    throw new MathError(`There are ${equations.length} equations, more than ${maxEquations}.`);
  }
  if (letters.length > equations.length) {
    throw new MathError(`${equations.length} equations leave ${letters.join(', ')} open.`);
  }
  const steps = equations.map(({ text }) => text);
  const zeros = equations.map(({ left, right }) => differenceOf(left, right));
  const found = distinct(branches(zeros, letters, steps), letters).filter((values) =>
    equations.every(({ left, right }) => {
      const [a, b] = [valueAt(left, values), valueAt(right, values)];
      return Math.abs(a - b) <= 1e-6 * (1 + Math.abs(a));
    }),
  );
  if (found.length === 0) throw new MathError('No solution of the system was found.');
  const texts = found.map((values) =>
    letters.map((letter) => is(letter, nice(values[letter] ?? Number.NaN))).join(', '),
  );
  for (const text of texts) steps.push(`Check: ${text} satisfies all equations.`);
  const [only, ...others] = found;
  const values =
    only === undefined || others.length > 0 ? [] : letters.map((one) => only[one] ?? 0);
  return { answer: texts.join(' or '), values, steps };
}

/** All values of the letters, by solving for one after the other. */
function branches(
  zeros: readonly Formula[],
  letters: readonly string[],
  steps: string[],
): readonly Values[] {
  const [letter, ...others] = letters;
  if (letter === undefined) return [{}];
  for (const zero of simplestFirst(zeros, letter)) {
    const texts = solutions(zero, letter);
    if (texts.length === 0) continue;
    const rest = zeros.filter((one) => one !== zero);
    const all = texts.slice(0, 4).flatMap((text) => {
      const solved = readAlgebra(text);
      if (solved.letters.includes(letter)) return [];
      if (others.length > 0) steps.push(`From one equation: ${letter} = ${solved.node}`);
      const filled = rest.map((one) => put(one, letter, text));
      return branches(filled, others, steps).map((values) => ({
        ...values,
        [letter]: valueAt(solved, values),
      }));
    });
    if (all.length > 0) return all.slice(0, maxBranches);
  }
  return [];
}

function simplestFirst(zeros: readonly Formula[], letter: string): readonly Formula[] {
  return zeros
    .filter(({ letters }) => letters.includes(letter))
    .toSorted((a, b) => a.algebra.length - b.algebra.length);
}

function put(formula: Formula, letter: string, by: string): Formula {
  const pattern = new RegExp(`(?<![A-Za-z])${letter}(?![A-Za-z(])`, 'g');
  return readAlgebra(formula.algebra.replaceAll(pattern, `(${by})`));
}

function distinct(all: readonly Values[], letters: readonly string[]): readonly Values[] {
  const seen = new Map(
    all.map((values) => [letters.map((one) => values[one]?.toPrecision(8)).join(), values]),
  );
  return [...seen.values()];
}
