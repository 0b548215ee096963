import { describe, expect, it } from 'vitest';
import type { Word } from '../reading/words.ts';
import { textMatches } from './text-matches.ts';

/** A line of symbols 10 pixels wide, 20 high. */
function line(text: string, left = 0, top = 0, confidence = 1): Word {
  const count = [...text].length;
  const [right, bottom] = [left + 10 * count, top + 20];
  return {
    text,
    confidence,
    box: [left, top, right, bottom],
    quad: [
      [left, top],
      [right, top],
      [right, bottom],
      [left, bottom],
    ],
    places: Array.from({ length: count }, (_, index) => (index + 0.5) / count),
  };
}

describe('a text', () => {
  it('is found within a line, with the box of its own part', () => {
    const [found] = textMatches([line('Total due 12.50')], 'due');
    expect(found).toMatchObject({ text: 'due', match: 1 });
    expect(found?.box).toEqual([60, 0, 90, 20]);
  });

  it('is found whatever its case and its spaces are', () => {
    expect(textMatches([line('NOPARKING')], 'no parking')).toHaveLength(1);
  });

  it('is found with an error of the reader, as less certain', () => {
    const [found] = textMatches([line('lnvoice')], 'Invoice');
    expect(found?.match).toBeCloseTo(6 / 7, 6);
  });

  it('is not found in other words', () => {
    expect(textMatches([line('Subtotal'), line('2041')], 'invoice')).toEqual([]);
  });

  it('comes best first, and any line is one where no text is asked for', () => {
    const lines = [line('Gate 8', 0, 0), line('Gate 7', 0, 40), line('x', 0, 80, 0.6)];
    expect(textMatches(lines, 'Gate 7').map(({ text }) => text)).toEqual(['Gate 7', 'Gate']);
    expect(textMatches(lines, '')).toHaveLength(3);
  });

  it('has a box across a line that runs upward', () => {
    const upward: Word = {
      ...line('Speed km'),
      box: [0, 0, 20, 80],
      quad: [
        [0, 80],
        [0, 0],
        [20, 0],
        [20, 80],
      ],
    };
    expect(textMatches([upward], 'km')[0]?.box).toEqual([0, 0, 20, 20]);
  });
});
