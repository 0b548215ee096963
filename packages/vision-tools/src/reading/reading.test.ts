import { describe, expect, it } from 'vitest';
import { mathLines } from './math-lines.ts';
import { paragraphsOf } from './paragraphs.ts';
import { markdownOf, tableOf } from './table.ts';

type Cell = Parameters<typeof tableOf>[0][number];
const cell = (text: string, left: number, top: number, wide = 10 * text.length): Cell => ({
  text,
  box: [left, top, left + wide, top + 20],
});

describe('a table', () => {
  const words = [
    cell('Prices of paper', 10, 0, 400),
    cell('Item', 10, 40),
    cell('Price', 200, 43),
    cell('Number', 300, 38),
    cell('A4', 10, 80),
    cell('4.20', 210, 82),
    cell('12', 330, 80),
    cell('A3', 10, 120),
    cell('7', 340, 121),
  ];

  it('has its title apart, and a gap where there is no text', () => {
    expect(tableOf(words, 10)).toEqual({
      titles: ['Prices of paper'],
      rows: [
        ['Item', 'Price', 'Number'],
        ['A4', '4.20', '12'],
        ['A3', '', '7'],
      ],
    });
  });

  it('does not depend on the order of its words', () => {
    expect(tableOf([...words].reverse(), 10)).toEqual(tableOf(words, 10));
  });

  it('is Markdown, with bars escaped', () => {
    const rows = [
      ['a|b', 'c'],
      ['1', '2'],
    ];
    expect(markdownOf({ titles: ['T'], rows })).toBe('T\n| a\\|b | c |\n| --- | --- |\n| 1 | 2 |');
  });

  it('is its lines where nothing stands side by side', () => {
    const lines = [cell('One', 0, 0), cell('Two', 0, 40)];
    expect(markdownOf(tableOf(lines, 10))).toBe('One\nTwo');
  });
});

describe('paragraphs', () => {
  it('join lines close to each other, and words broken at a line’s end', () => {
    const lines = [cell('First line', 0, 0), cell('contin-', 0, 25), cell('ued', 0, 50)];
    const apart = [...lines, cell('Second', 0, 120), cell('Aside', 300, 0)];
    expect(paragraphsOf(apart).map(({ text }) => text)).toEqual([
      'First line continued',
      'Second',
      'Aside',
    ]);
    expect(paragraphsOf(lines)[0]?.box).toEqual([0, 0, 100, 70]);
  });
});

describe('formulas', () => {
  it.each<[string, string | undefined]>([
    ['x² + 3x − 4 = 0', 'x^2 + 3x - 4 = 0'],
    ['2 × 7 = 14', '2 * 7 = 14'],
    ['sin(x) ≤ 1', 'sin(x) <= 1'],
    ['a/b', 'a/b'],
    ['Total due: 12', undefined],
    ['see page 3-4 of the report', undefined],
    ['2024', undefined],
  ])('%s', (text, expected) => {
    expect(mathLines([cell(text, 0, 0)])[0]?.text).toBe(expected);
  });
});
