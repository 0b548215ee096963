/** Pages of a speech in one or two columns, with questions about lines and words. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import { Page } from '../rendering/page.ts';
import type { AskedDocument, DocumentOperation } from './document.ts';
import { type DocumentStyle, textWidth } from './document-style.ts';
import type { Speech } from './speeches.ts';

/** A word as it is printed, with its line. */
interface Word {
  readonly text: string;
  readonly box: Box;
  readonly line: number;
}

type WordQuestion = Pick<AskedDocument, 'operation' | 'question' | 'answer' | 'evidence'>;

const operations: readonly DocumentOperation[] = ['line-end', 'next-word', 'count'];
/** Words that name a line or a place. */
const QUOTED = 3;
const MOST_COUNTED = 9;
const mark = /^[("'[]+|[)"'\].,;:!?-]+$/g;

/** A word without the marks around it. */
const bare = (word: string): string => word.replaceAll(mark, '');
/** Words that can be an answer: one way to write them, and long enough not to be guessed. */
const isPlain = (word: string): boolean => /^[A-Za-z]{5,}$/.test(bare(word));

/** Columns, and speeches that follow each other, by density 1 to 5. */
const columnsOfLevel = [1, 1, 2, 2, 3] as const;
const speechesOfLevel = [1, 1, 1, 1, 3] as const;

/**
 * A page of speeches, the first of which starts at a sentence of it. Undefined where no word fits the
 * question.
 *
 * @param level  density, 1 to 5
 */
export function speechPage(
  speeches: readonly Speech[],
  style: DocumentStyle,
  level: number,
  random: Random,
): AskedDocument | undefined {
  const page = new Page(style.width, style.height);
  const speech = random.pick(speeches);
  const more = (speechesOfLevel[level - 1] ?? 1) - 1;
  const others = more === 0 ? [] : random.shuffle(speeches).filter((one) => one !== speech);
  const chosen = [speech, ...others.slice(0, more)];
  const top = drawHead(page, chosen, style);
  const sentences = speech.text.split(/(?<=[a-z]{2}[.!?]) (?=[A-Z])/);
  const start = random.integer(Math.max(1, Math.floor(sentences.length / (level + 1))));
  const texts = [...sentences.slice(start), ...chosen.slice(1).map(({ text }) => text)]
    .join(' ')
    .split(' ');
  const words = setColumns(page, texts, top, columnsOfLevel[level - 1] ?? 1, style);
  const lines: Word[][] = [];
  for (const word of words) {
    lines[word.line] ??= [];
    lines[word.line]?.push(word);
  }
  const operation = random.pick(operations);
  const asked =
    operation === 'count' ? askCount(words, random) : askPlace(lines, operation, random);
  return asked && { ...asked, page, words, sources: ['speeches.json'] };
}

/** Draws the heading; gives where the text may begin. */
function drawHead(page: Page, speeches: readonly Speech[], style: DocumentStyle): number {
  const { margin, title, regular, leading } = style;
  const head = `State of the Union, ${speeches.map(({ year }) => year).join(', ')}`;
  const president = speeches.map((speech) => speech.president).join(', ');
  page.text(head, margin, margin + title.size, title);
  const under = margin + title.size + leading;
  page.text(president, margin, under, regular);
  page.fill([margin, under + leading * 0.4, style.width - margin, under + leading * 0.4 + 1], 0.7);
  return under + leading * 0.7;
}

/** Sets words in lines and columns until the page is full. */
function setColumns(
  page: Page,
  texts: readonly string[],
  top: number,
  columns: number,
  style: DocumentStyle,
): readonly Word[] {
  const { margin, regular, leading, isJustified } = style;
  const gutter = columns > 1 ? margin * 0.6 : 0;
  const width = (style.width - 2 * margin - (columns - 1) * gutter) / columns;
  const space = regular.advance(' ');
  const words: Word[] = [];
  let next = 0;
  let line = 0;
  for (let column = 0; column < columns; column++) {
    const left = margin + column * (width + gutter);
    for (let y = top + leading; y < style.height - margin && next < texts.length; y += leading) {
      const row: string[] = [];
      let used = 0;
      for (let text = texts[next]; text !== undefined; text = texts[next]) {
        const needed = textWidth(text, regular);
        if (row.length > 0 && used + space + needed > width) break;
        used += needed + (row.length > 0 ? space : 0);
        row.push(text);
        next++;
      }
      const isLast = next >= texts.length;
      const spread = isJustified && !isLast ? (width - used) / Math.max(1, row.length - 1) : 0;
      let x = left;
      for (const text of row) {
        const box = page.text(text, x, y, regular);
        words.push({ text, box, line });
        x = box[2] + space + spread;
      }
      line++;
    }
  }
  return words;
}

const textOf = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');

/** Asks for the end of a line, or for the word after others of the same line. */
function askPlace(
  lines: readonly (readonly Word[])[],
  operation: DocumentOperation,
  random: Random,
): WordQuestion | undefined {
  const line = random.pick(lines);
  const isEnd = operation === 'line-end';
  const start = isEnd ? 0 : random.integer(Math.max(1, line.length - QUOTED));
  const quoted = line.slice(start, start + QUOTED);
  const target = isEnd ? line.at(-1) : line[start + QUOTED];
  if (target === undefined || line.length <= QUOTED || !isPlain(target.text)) return undefined;
  // A mark between quoted words would be part of the quotation, and is easily misread.
  if (!quoted.every(({ text }) => /^[A-Za-z]+$/.test(text))) return undefined;
  const text = textOf(quoted);
  const all = lines.flat();
  const found = all.filter((_, index) => textOf(all.slice(index, index + QUOTED)) === text);
  if (found.length !== 1) return undefined;
  const question = isEnd
    ? `What is the last word of the line that begins with “${text}”?`
    : `Which word follows “${text}” on this page?`;
  return {
    operation,
    question: `${question} Answer with the word alone.`,
    answer: bare(target.text),
    evidence: [...quoted, target].map(({ box }) => box),
  };
}

/** Asks how often a word occurs that is no part of another word of the page. */
function askCount(words: readonly Word[], random: Random): WordQuestion | undefined {
  const boxes = new Map<string, Box[]>();
  for (const { text, box } of words) {
    const key = bare(text).toLowerCase();
    boxes.set(key, [...(boxes.get(key) ?? []), box]);
  }
  const isWithin = (word: string) => [...boxes.keys()].some((o) => o !== word && o.includes(word));
  const fewest = 2;
  const wanted = fewest + random.integer(MOST_COUNTED - fewest + 1);
  const fitting = [...boxes].filter(
    ([word, { length }]) => length === wanted && /^[a-z]{3,}$/.test(word) && !isWithin(word),
  );
  if (fitting.length === 0) return undefined;
  const [word, evidence] = random.pick(fitting);
  return {
    operation: 'count',
    question: `How many times does the word “${word}” occur in the text below the heading, ignoring capitalization? Answer with a number.`,
    answer: String(evidence.length),
    evidence,
  };
}
