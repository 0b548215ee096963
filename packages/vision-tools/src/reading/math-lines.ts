/** Picks the lines of text that are formulas, and writes their signs as programs do. */
import type { Word } from './words.ts';

type Line = Pick<Word, 'text' | 'box'>;

const signs: readonly (readonly [RegExp, string])[] = [
  [/[−–—]/g, '-'],
  [/[×∗·]/g, '*'],
  [/÷/g, '/'],
  [/≤/g, '<='],
  [/≥/g, '>='],
  [/²/g, '^2'],
  [/³/g, '^3'],
];

/** Lines with an equation, an inequality or an operation on numbers or letters. */
export function mathLines(lines: readonly Line[]): readonly Line[] {
  return lines
    .map(({ text, box }) => ({
      text: signs.reduce((all, [sign, as]) => all.replace(sign, as), text),
      box,
    }))
    .filter(({ text }) => isMath(text));
}

function isMath(text: string): boolean {
  const compact = text.replace(/\s+/g, '');
  // Words make prose of it, save the names of functions.
  const words = text.match(/[A-Za-z]{3,}/g) ?? [];
  const prose = words.filter(
    (word) => !/^(?:sin|cos|tan|log|ln|lim|sqrt|max|min|exp)$/i.test(word),
  );
  if (prose.length > 0) return false;
  const operand = '[\\w)\\]}.%°π√]';
  return new RegExp(`${operand}(?:[=<>≠≈+*/^]|<=|>=|-)[-+]?[\\w(\\[{.√π]`).test(compact);
}
