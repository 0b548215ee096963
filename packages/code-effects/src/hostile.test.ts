/** Code that a policy may write by accident or to do harm: the analysis gives up, and never throws. */
import { describe, expect, it } from 'vitest';
import { analyzeCode } from './analyze.ts';
import type { TurnToolUse } from './operation.ts';

const inputs = [{ name: 'image_clue_0', width: 640, height: 400 }];

function analyze(...codes: readonly string[]): readonly TurnToolUse[] {
  return analyzeCode(
    codes.map((code, turn) => ({ turn, code })),
    inputs,
  );
}

const reasonOf = (code: string): string | undefined => analyze(code)[0]?.gaveUp;

/** `count` lines of a function of their number. */
function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('\n');
}

describe('code that is given up', () => {
  // Each of these took seconds, the stack or the memory of the process without a budget.
  it.each([
    ['a long program', lines(5000, (i) => `x${i} = ${i}`), 'code'],
    ['a long text', `x = '${'a'.repeat(1e6)}'`, 'code'],
    ['a long number', `x = ${'9'.repeat(1e5)}`, 'code'],
    ['a long sum', `x = 1${'+1'.repeat(5000)}`, 'code'],
    ['many statements on a line', 'a=1;'.repeat(1900), 'code'],
    ['deep brackets', `x = ${'['.repeat(3000)}${']'.repeat(3000)}`, 'nesting'],
    ['brackets that never close', '('.repeat(5000), 'nesting'],
    ['deep dictionaries', `x = ${'{1:'.repeat(900)}1${'}'.repeat(900)}`, 'nesting'],
    ['deep lambdas', `x = ${'lambda:'.repeat(200)}1`, 'nesting'],
    ['a deep sum', `x = 1${'+1'.repeat(300)}`, 'nesting'],
    [
      'deep blocks',
      `${lines(120, (i) => `${' '.repeat(i)}if 1:`)}\n${' '.repeat(120)}pass`,
      'nesting',
    ],
    ['many elifs', `if input():\n pass\n${'elif input():\n pass\n'.repeat(300)}`, 'nesting'],
    ['many clauses', `x = [1 ${'for a in [1, 2] '.repeat(40)}]`, 'nesting'],
    ['branching recursion', 'def f(n):\n  return f(n + 1) + f(n + 2)\nf(0)', 'steps'],
    [
      'nested loops',
      `${lines(6, (i) => `${' '.repeat(i)}for i${i} in range(500):`)}\n       pass`,
      'steps',
    ],
    ['a loop without end', 'while True:\n  x = 1', 'steps'],
    ['errors in loops', 'while True:\n  try:\n    q\n  except NameError:\n    pass', 'steps'],
    [
      'branches over many names',
      `${lines(400, (i) => `x${i} = ${i}`)}\nfor i in range(400):\n  if input():\n    x1 = i`,
      'steps',
    ],
    [
      'crops of everything',
      'for a in range(500):\n for b in range(300):\n  image_clue_0.crop((a, b, a+9, b+9))',
      'steps',
    ],
    ['a list that doubles', 'x = [1, 2]\nfor i in range(60):\n  x.extend(x)', 'size'],
    ['a list that doubles by +=', 'x = [1, 2]\nfor i in range(60):\n  x += x', 'size'],
    ['a comprehension of much', 'x = [(a, b) for a in range(90) for b in range(90)]', 'size'],
  ])('%s', (_, code, reason) => {
    const [use, later] = analyze(code, 'image_clue_0.crop((10, 10, 90, 90)).show()');
    expect(use?.gaveUp).toBe(reason);
    expect(use?.isIncomplete).toBe(true);
    expect([use?.hasSyntaxError, use?.isCommentOnly, use?.isPrintOnly]).toEqual([
      false,
      false,
      false,
    ]);
    // The state that the turn left behind is not known.
    expect(later?.operations.map(({ isCertain }) => isCertain)).toEqual([false, false]);
  });

  it('keeps what was done before, for certain', () => {
    const [use] = analyze('image_clue_0.crop((10, 10, 90, 90))\nwhile True:\n  pass');
    expect(use?.operations).toMatchObject([{ kind: 'crop', isCertain: true }]);
  });

  it('does not touch turns that remember nothing', () => {
    const turns = ['while True:\n  pass', 'image_clue_0.crop((10, 10, 90, 90))'];
    const [, later] = analyzeCode(
      turns.map((code, turn) => ({ turn, code })),
      inputs,
      { isPersistent: false },
    );
    expect(later?.operations).toMatchObject([{ kind: 'crop', isCertain: true }]);
  });
});

describe('values that are too large are unknown, and the rest is followed', () => {
  it.each([
    ['a power of a power', 'n = 10 ** 10 ** 10'],
    ['a repeated text', 'n = "a" * 10 ** 9'],
    ['a repeated list', 'n = [0] * 10 ** 9'],
    ['a repeated empty list', 'n = [] * 10 ** 9'],
    ['a large range', 'n = list(range(10 ** 12))'],
    ['a range of small steps', 'import numpy as np\nn = np.arange(0, 1, 1e-300)'],
    ['a text that doubles', 'n = "ab"\nfor i in range(100):\n  n = n + n'],
    ['a list that doubles', 'n = [1, 2]\nfor i in range(100):\n  n = n + n'],
    ['a format that doubles', 'n = "ab"\nfor i in range(100):\n  n = f"{n}{n}"'],
    ['a tuple of itself', 'n = (1,)\nfor i in range(60):\n  n = (n, n)\nd = {n: 1}\nsame = n == n'],
    [
      'lists that hold themselves',
      'n = []\nn.append(n)\nm = []\nm.append(m)\nsame = n == m\nd = {(1, n): 2}',
    ],
    ['digits without number', 'n = round(1.5, 10 ** 9)'],
    ['rows of many columns', 'r = range(1000)\nn = list(zip(*[r] * 20))'],
    ['a search', 'a = "a" * 10\na = a + a + a\nn = ("a" * 9) in a'],
    ['a set of many', 'n = set(range(1000))'],
  ])('%s', (_, code) => {
    const [use] = analyze(`${code}\nimage_clue_0.crop((10, 10, 90, 90))`);
    expect(use?.gaveUp).toBeUndefined();
    expect(use?.raises).toBeUndefined();
    expect(use?.operations).toMatchObject([{ kind: 'crop', canonicalBox: [10, 10, 90, 90] }]);
  });

  it('raises where Python does', () => {
    expect(analyze('x = [1]\nx[10 ** 8] = 2')[0]?.raises).toBe('IndexError');
    expect(analyze('x = [1]\nx[-2] = 2')[0]?.raises).toBe('IndexError');
    expect(analyze('x = [1]\nx[0.5] = 2')[0]?.raises).toBe('TypeError');
  });
});

describe('ordinary code is not given up', () => {
  it.each([
    [
      'a grid of crops',
      'for a in range(12):\n for b in range(12):\n  image_clue_0.crop((a*9, b*9, a*9+30, b*9+30))',
    ],
    [
      'a search over rows',
      'for y in range(400):\n  if image_clue_0.getpixel((0, y)) > 9:\n    top = y',
    ],
    [
      'a hundred lines',
      lines(100, (i) => `part${i} = image_clue_0.crop((${i}, 0, ${i + 90}, 90))`),
    ],
    ['a long comment', `${'# words and more words\n'.repeat(300)}x = 1`],
  ])('%s', (_, code) => {
    expect(reasonOf(code)).toBeUndefined();
  });
});
