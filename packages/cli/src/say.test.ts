import { describe, expect, it } from 'vitest';
import { fold, foldLines } from './say.ts';
import { formatTable } from './table.ts';

describe('text', () => {
  it('keeps to the columns and loses no word', () => {
    const text = 'a bb ccc dddd '.repeat(20).trim();
    for (const columns of [24, 40, 79]) {
      const lines = fold(text, columns);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
      expect(lines.join(' ')).toBe(text);
    }
  });

  it('gives a word that is too long a line of its own, whole', () => {
    const path = `/a/${'b'.repeat(80)}`;
    expect(fold(`see ${path} now`, 30)).toEqual(['see', path, 'now']);
  });

  it('folds only long lines, and indents what it folds', () => {
    const text = `short\n    ${'word '.repeat(10).trim()}\n`;
    expect(foldLines(text, 30)).toBe(
      'short\n    word word word word word\n      word word word word word\n',
    );
    expect(foldLines(text, Number.POSITIVE_INFINITY)).toBe(text);
  });
});

describe('a table', () => {
  const rows = [
    ['name', 'about'],
    ['one', 'some words that do not fit beside it'],
  ];

  it('folds its last column below itself', () => {
    expect(formatTable(rows, 30)).toEqual([
      'name  about',
      'one   some words that do not',
      '      fit beside it',
    ]);
  });

  it('becomes a list where there is no room for columns', () => {
    const wide = [['tool-spam', 'three calls or more, half of them for nothing', 'leastCalls=3']];
    expect(formatTable(wide, 40)).toEqual([
      'tool-spam',
      '    three calls or more, half of them',
      '    for nothing · leastCalls=3',
    ]);
  });

  it('stays as it is in a pipe', () => {
    expect(formatTable(rows)).toEqual([
      'name  about',
      'one   some words that do not fit beside it',
    ]);
  });
});
