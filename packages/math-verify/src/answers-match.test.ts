/** A table of answers, and changes that must not change a verdict. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answersMatch } from './answers-match.ts';
import pairs from './pairs.fixture.json' with { type: 'json' };

type Pair = readonly [answer: string, expected: string];
const rows = (kind: 'equal' | 'different'): readonly Pair[] =>
  pairs.flatMap((group) => group[kind].map(([a = '', e = '']) => [a, e] as const));
const all = [...rows('equal'), ...rows('different')];

/** A generous limit of processor time, which a busy machine does not stretch; most take below 1 ms. */
const limitMs = 1500;

/** Milliseconds of this process alone, the compiler's and the collector's threads included. */
const processorMs = (): number => process.cpuUsage().user / 1000;

describe.each(pairs)('$why', ({ equal, different }) => {
  it('accepts what is equal, and nothing else', () => {
    const verdicts = (list: readonly string[][]) =>
      list.map(([a = '', e = '']) => `${a} for ${e}: ${answersMatch(a, e)}`);
    expect(verdicts(equal)).toEqual(equal.map(([a, e]) => `${a} for ${e}: true`));
    expect(verdicts(different)).toEqual(different.map(([a, e]) => `${a} for ${e}: false`));
  });
});

it('the table has more than three hundred pairs', () => {
  expect(all.length).toBeGreaterThan(300);
});

describe('a verdict does not change', () => {
  // Where `expected` decides how an answer is read, see the groups on chains and on equations.
  const oriented = /=|apples/;
  const symmetric = all.filter(([a, e]) => !oriented.test(a) && !oriented.test(e));

  it('when both sides change places', () => {
    expect(symmetric.length).toBeGreaterThan(300);
    for (const [a, e] of symmetric) {
      expect([a, e, answersMatch(e, a)]).toEqual([a, e, answersMatch(a, e)]);
    }
  });

  const dressed: readonly (readonly [string, (text: string) => string])[] = [
    ['spaces around it', (text) => `  ${text}\n`],
    ['dollars around it', (text) => (/[$]|\\\(|\\\[|nswer/.test(text) ? text : `$${text}$`)],
    ['a box around it', (text) => (/boxed|nswer/.test(text) ? text : `\\boxed{${text}}`)],
    ['\\dfrac for \\frac', (text) => text.replaceAll('\\frac', '\\dfrac')],
    ['\\left( for (', (text) => text.replace(/(?<![\\a-z])\(([^()]*)\)/g, '\\left($1\\right)')],
  ];
  it.each(dressed)('by %s', (_, dress) => {
    const isFormula = (text: string): boolean =>
      /[\d\\=<]/.test(text) && !/\\text|[a-z]{3} [a-z]{3}/.test(text);
    const formulas = all.filter(([a, e]) => isFormula(a) && isFormula(e));
    for (const [a, e] of formulas) {
      expect([a, e, answersMatch(dress(a), e)]).toEqual([a, e, answersMatch(a, e)]);
    }
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...['\\frac', '{', '}', '(', ')', '[', ']', '^', '_', '\\sqrt', 'x', '1', '2', '99', '+', '-'],
    ...['*', '/', '=', '<', '\\le', '\\cup', '\\{', '\\}', '\\begin{pmatrix}', '&', '\\\\', '!'],
    ...['\\end{pmatrix}', '\\sum_{k=1}^{', '%', '|', '\\text{', ' or ', ',', ';', '$', '\\boxed{'],
    ...['\\pm', 'i', 'e', '\\infty', '.', ' cm', '°', '\ud800', '9^9', '\\sin', 'log', '\\binom'],
  );
  const broken = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''));
  const edited = fc
    .tuple(fc.constantFrom(...all.flat()), fc.nat(40), pieces)
    .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + 1));

  // Half a minute on a free core; a busy machine may need the whole limit.
  it('of 20,000 gets a verdict within the limit', { timeout: 600_000 }, () => {
    let slowest = 0;
    const check = (answer: string, expected: string): void => {
      const start = processorMs();
      const score = answersMatch(answer, expected);
      slowest = Math.max(slowest, processorMs() - start);
      if (typeof score !== 'boolean') throw new Error(`${score} for ${answer}`);
    };
    const text = fc.oneof(broken, edited, fc.string({ unit: 'binary', maxLength: 40 }));
    fc.assert(fc.property(text, edited, check), { numRuns: 20_000 });
    expect(slowest).toBeLessThan(limitMs);
  });

  it.each([
    ['a tower of powers', '9^{9^{9^{9}}}'],
    ['a large factorial', '100000!'],
    ['many roots', '\\sqrt{'.repeat(160)],
    ['open brackets', '('.repeat(999)],
    ['nested sums', `${'\\sum_{k=1}^{2000}'.repeat(20)}k`],
    ['many answers', '1,'.repeat(450)],
    ['a long sum', `${'x+'.repeat(450)}x`],
    ['a wide matrix', `\\begin{pmatrix}${'1&'.repeat(300)}1\\end{pmatrix}`],
    ['many signs', `${'-'.repeat(900)}1`],
    ['many units', `5 ${'cm '.repeat(60)}`],
    ['many texts', '\\text{ '.repeat(120)],
    ['a million letters', 'a'.repeat(1_000_000)],
  ])('such as %s ends within the limit', (_, text) => {
    const start = processorMs();
    answersMatch(text, '1');
    answersMatch('1', text);
    answersMatch(`${text} `, `${text}x`);
    expect(processorMs() - start).toBeLessThan(limitMs);
  });
});

describe('another precision', () => {
  const exact = { roundedTolerance: 1e-6, exactTolerance: 1e-9, probes: 24, neededProbes: 6 };

  it('decides about rounded numbers, exact ones and symbols', () => {
    expect(answersMatch('3.14', '\\pi')).toBe(false);
    expect(answersMatch('3.14', '\\pi', { ...exact, roundedTolerance: 1e-3 })).toBe(true);
    expect(answersMatch('\\frac{22}{7}', '\\pi')).toBe(false);
    expect(answersMatch('\\frac{22}{7}', '\\pi', { ...exact, exactTolerance: 1e-3 })).toBe(true);
    expect(answersMatch('(x+1)^2', 'x^2+2x+1')).toBe(true);
    const tooFew = { ...exact, probes: 4 };
    expect(answersMatch('(x+1)^2', 'x^2+2x+1', tooFew)).toBe(false);
  });
});
