import { describe, expect, it } from 'vitest';
import { readFormula, valueAt } from './expression.ts';
import { plainMath } from './plain.ts';
import { solveMath } from './solve-math.ts';

const answerTo = (question: string): string => solveMath(question).answer;

describe('questions about formulas', () => {
  it('solves equations exactly, and says what has no real solution', () => {
    expect(answerTo('Solve x^2 - 4x + 4 = 0')).toBe('x = 2');
    expect(answerTo('Solve 2/3 x = 5')).toBe('x = 15/2');
    expect(answerTo('Solve x^2 + 1 = 0')).toBe('no real solution');
    expect(answerTo('abs(x) = -3')).toBe('no real solution');
    expect(answerTo('abs(x - 1) + 2x = 4')).toBe('x = 5/3');
  });

  it('takes letters that are asked for before a colon for no part of the equations', () => {
    const system = 'x - 4*y = -4; -x + 5*y = 6';
    expect(answerTo(`Find x and y: ${system}`)).toBe('x = 4, y = 2');
    expect(answerTo(`Find x and y: ${system}`)).toBe(answerTo(`Solve the system ${system}`));
  });

  it('writes a product of a letter and a function so that it can be read again', () => {
    const written = answerTo('Differentiate x^2*cos(x) with respect to x.');
    const read = readFormula(plainMath(written));
    for (const x of [0.4, 1.3, 2.9]) {
      expect(valueAt(read, { x })).toBeCloseTo(2 * x * Math.cos(x) - x * x * Math.sin(x), 9);
    }
  });

  it.each(['Factor x^2 - 1', 'Factorise x^2 - 1', 'Find the factorisation of x^2 - 1'])(
    'knows the word in %s',
    (question) => {
      expect(answerTo(question)).toBe(answerTo('Factorize x^2 - 1'));
    },
  );

  it('reads no stories', () => {
    expect(() => solveMath('Tom has 5 apples and buys 3 more. How many has he?')).toThrow(
      /formula/,
    );
  });
});
