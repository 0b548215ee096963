/**
 * Questions about small print that name no place: CodeVision, arXiv:2512.03746, §4.1, asks for a line by
 * its beginning, counts letters in a paragraph by its end, and asks about facts of a paragraph.
 */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import type { PrintedLine } from '../rendering/text-flow.ts';
import type { Broadsheet, Paragraph } from './broadsheet.ts';
import { shareOf } from './broadsheet.ts';

/** How large the text is that a question is about. */
export type PrintLevel = 'word' | 'line' | 'paragraph';

/**
 * How the answer is read:
 *
 * | operation           | level       | answer                                                         |
 * | ------------------- | ----------- | -------------------------------------------------------------- |
 * | `next-word`         | `word`      | the word after `quoted`                                        |
 * | `line-text`         | `line`      | the line that begins with `quoted`                             |
 * | `line-letters`      | `line`      | how often `letter` is in the line that begins with `quoted`    |
 * | `paragraph-letters` | `paragraph` | how often `letter` is in the paragraph that ends with `quoted` |
 * | `paragraph-fact`    | `paragraph` | the value of `measure` in the paragraph that begins so         |
 */
export const printOperations = {
  'next-word': 'word',
  'line-text': 'line',
  'line-letters': 'line',
  'paragraph-letters': 'paragraph',
  'paragraph-fact': 'paragraph',
} as const satisfies Readonly<Record<string, PrintLevel>>;

/** How an answer is read. */
export type PrintOperation = keyof typeof printOperations;

/** How the answer follows from the sheet. */
export interface PrintProgram {
  readonly operation: PrintOperation;
  /** The words that name the text. */
  readonly quoted: string;
  /** In lower case. */
  readonly letter?: string;
  readonly measure?: string;
}

/** A question about a sheet. */
export interface PrintQuestion {
  readonly question: string;
  readonly answer: string;
  readonly program: PrintProgram;
  /** What has to be read; whole pixels. */
  readonly box: Box;
  /** Its share of the sheet. */
  readonly share: number;
}

/** Most words that name a text, and most letters that are counted. */
const [MOST_QUOTED, MOST_LETTERS] = [3, 4] as const;

/** A number of letters to look for: drawn before any text is, so that each number is as likely. */
export const drawLetterCount = (random: Random): number => 1 + random.integer(MOST_LETTERS);

/**
 * Asks about a text that covers at most a share of the sheet; undefined where the drawn one does not fit.
 *
 * @param letterCount  how often the letter of a question about letters is in its text
 */
export function askSmallPrint(
  sheet: Broadsheet,
  operation: PrintOperation,
  { largestShare, letterCount }: { readonly largestShare: number; readonly letterCount: number },
  random: Random,
): PrintQuestion | undefined {
  const { paragraphs } = sheet;
  if (paragraphs.length === 0) return undefined;
  const paragraph = random.pick(paragraphs);
  const line = random.pick(paragraph.lines);
  const asked = {
    'next-word': () => askNextWord(sheet, line, random),
    'line-text': () => askLine(sheet, line),
    'line-letters': () => askLineLetters(sheet, line, letterCount, random),
    'paragraph-letters': () => askParagraphLetters(sheet, paragraph, letterCount, random),
    'paragraph-fact': () => askFact(sheet, paragraph, random),
  }[operation]();
  if (asked === undefined) return undefined;
  const { box, share } = shareOf(asked.box, sheet.canvas);
  if (share > largestShare) return undefined;
  const { question, answer, ...program } = asked;
  const { quoted, letter, measure } = program;
  return {
    question,
    answer,
    program: {
      operation,
      quoted,
      ...(letter !== undefined && { letter }),
      ...(measure !== undefined && { measure }),
    },
    box,
    share,
  };
}

type Asked = Omit<PrintProgram, 'operation'> & {
  readonly question: string;
  readonly answer: string;
  readonly box: Box;
};

const isPlain = (text: string): boolean => /^[A-Za-z0-9 ]+$/.test(text);

/** The first words of a text that no other text begins with; undefined where three do not tell it. */
function beginning(text: string, others: readonly string[]): string | undefined {
  const words = text.split(' ');
  for (let count = 1; count <= Math.min(MOST_QUOTED, words.length - 1); count++) {
    const start = words.slice(0, count).join(' ');
    if (!isPlain(start)) return undefined;
    const same = others.filter((other) => `${other} `.startsWith(`${start} `));
    if (same.length === 1) return start;
  }
  return undefined;
}

const withoutMarks = (text: string): string => text.replaceAll(/[^A-Za-z0-9 ]/g, '');

/** The last words of a text that no other text ends with. */
function ending(text: string, others: readonly string[]): string | undefined {
  const words = text.replace(/[^A-Za-z0-9]+$/, '').split(' ');
  for (let count = 1; count <= Math.min(MOST_QUOTED, words.length - 1); count++) {
    const end = words.slice(-count).join(' ');
    if (!isPlain(end)) return undefined;
    const same = others.filter((other) => ` ${withoutMarks(other)}`.endsWith(` ${end}`));
    if (same.length === 1) return end;
  }
  return undefined;
}

const textOf = ({ lines }: Paragraph): string => lines.map(({ text }) => text).join(' ');
const linesIn = ({ paragraphs, headlines }: Broadsheet): readonly string[] => [
  ...paragraphs.flatMap(({ lines }) => lines.map(({ text }) => text)),
  ...headlines,
];

/** How often a letter is in a text, small or capital. */
const lettersIn = (text: string, letter: string): number =>
  text.toLowerCase().split(letter).length - 1;

/** A letter that is so often in a text. */
function drawLetter(text: string, wanted: number, random: Random): string | undefined {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].filter(
    (letter) => lettersIn(text, letter) === wanted,
  );
  return letters.length === 0 ? undefined : random.pick(letters);
}

function askNextWord(sheet: Broadsheet, line: PrintedLine, random: Random): Asked | undefined {
  const { words } = line;
  if (words.length <= MOST_QUOTED) return undefined;
  const start = random.integer(words.length - MOST_QUOTED);
  const quoted = words
    .slice(start, start + MOST_QUOTED)
    .map(({ text }) => text)
    .join(' ');
  const target = words[start + MOST_QUOTED];
  const answer = target?.text.replaceAll(/^\W+|\W+$/g, '') ?? '';
  if (target === undefined || !isPlain(quoted) || !/^[A-Za-z]{4,}$/.test(answer)) return undefined;
  const all = ` ${linesIn(sheet).map(withoutMarks).join(' ')} `;
  if (all.split(` ${quoted} `).length !== 2) return undefined;
  const question = `Which word comes right after “${quoted}” in the small print? Answer with the word alone.`;
  return { question, answer, quoted, box: target.box };
}

function askLine(sheet: Broadsheet, { text, words, box }: PrintedLine): Asked | undefined {
  const quoted = beginning(text, linesIn(sheet));
  if (quoted === undefined || words.length < 3) return undefined;
  const question = `What does the line beginning with “${quoted}” say? Answer with the whole line.`;
  return { question, answer: text, quoted, box };
}

const COUNT = 'Count small and capital letters. Answer with a number.';

function askLineLetters(
  sheet: Broadsheet,
  { text, words, box }: PrintedLine,
  letterCount: number,
  random: Random,
): Asked | undefined {
  const quoted = beginning(text, linesIn(sheet));
  const letter = drawLetter(text, letterCount, random);
  if (quoted === undefined || letter === undefined || words.length < 3) return undefined;
  const question = `How many times does the letter “${letter}” appear in the line beginning with “${quoted}”? ${COUNT}`;
  return { question, answer: String(lettersIn(text, letter)), quoted, letter, box };
}

function askParagraphLetters(
  sheet: Broadsheet,
  paragraph: Paragraph,
  letterCount: number,
  random: Random,
): Asked | undefined {
  const text = textOf(paragraph);
  const quoted = ending(text, [...sheet.paragraphs.map(textOf), ...sheet.headlines]);
  const letter = drawLetter(text, letterCount, random);
  if (quoted === undefined || letter === undefined || paragraph.lines.length < 2) return undefined;
  const question = `How many times does the letter “${letter}” appear in the paragraph ending with “${quoted}”? ${COUNT}`;
  return { question, answer: String(lettersIn(text, letter)), quoted, letter, box: paragraph.box };
}

function askFact(sheet: Broadsheet, paragraph: Paragraph, random: Random): Asked | undefined {
  if (paragraph.facts.length === 0 || paragraph.lines.length < 2) return undefined;
  const text = textOf(paragraph);
  const quoted = text.slice(0, text.indexOf(':'));
  const same = sheet.paragraphs.filter((other) => textOf(other).startsWith(`${quoted}:`));
  if (same.length !== 1 || !isPlain(quoted)) return undefined;
  const { measure, value } = random.pick(paragraph.facts);
  const question = `Which ${measure} does the paragraph beginning with “${quoted}” state? Answer with a number.`;
  return { question, answer: value, quoted, measure, box: paragraph.box };
}
