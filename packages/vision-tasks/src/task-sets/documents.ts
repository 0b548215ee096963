/**
 * `documents`: find words and numbers on pages of small print.
 *
 * Pages of real speeches, real tables and forms filled from them. The answer is printed on the page or
 * counted there. Speeches, rows, styles and typefaces of the held-out split are not in train.
 */
import { type Random, randomAt } from '@saccade/core';
import { type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { tablesOf } from '../charts/tables.ts';
import {
  type AskedDocument,
  type DocumentKind,
  type DocumentOperation,
  documentKinds,
} from '../documents/document.ts';
import { type DocumentStyle, documentStyle } from '../documents/document-style.ts';
import { formPage } from '../documents/form-page.ts';
import { speechPage } from '../documents/speech-page.ts';
import { speechesOf } from '../documents/speeches.ts';
import { tablePage } from '../documents/table-page.ts';
import { boxAround } from '../rendering/drawing.ts';
import { checkDifficulties, difficultySettings, drawLevel, someOf } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings(
    'pages, styles and questions',
    'larger pages with more words, rows and forms',
    4,
  ),
  kinds: textList({
    unit: 'kinds of documents',
    about: 'Some of speech, table and form; none means all.',
  }),
});

type DocumentOptions = SettingsOf<typeof settings>;

/** Facts of a task, in its metadata. */
export interface DocumentFacts {
  readonly family: 'documents';
  readonly kind: DocumentKind;
  /** 1 to 4. */
  readonly difficulty: number;
  /** Tools without which the overview is too coarse. */
  readonly requiredTools: readonly string[];
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** The words, cells or fields that the answer is read from; pixels. */
  readonly evidence: readonly Box[];
  readonly program: { readonly operation: DocumentOperation };
  /** A right answer is exact: 0. */
  readonly tolerance: number;
  readonly typeface: string;
  /** The files of the words and numbers; SOURCES.md has their licenses. */
  readonly sources: readonly string[];
}

const TASKS = 1_000_000;

/** Questions about pages of small print. */
export const documents = defineTaskSet({
  name: 'documents',
  description: 'Find words and numbers on pages of speeches, tables and forms in small print.',
  settings,
  create(options) {
    checkDifficulties(options);
    const kinds = someOf('kinds', options.kinds, documentKinds);
    return { size: () => TASKS, task: (split, index) => makeTask(options, kinds, split, index) };
  },
});

async function makeTask(
  options: DocumentOptions,
  kinds: readonly DocumentKind[],
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'documents', split, index);
  const difficulty = drawLevel(options, random);
  const kind = random.pick(kinds);
  const style = await documentStyle(split, difficulty, random);
  const { page, operation, question, answer, evidence, sources } = drawDocument(
    kind,
    split,
    style,
    difficulty,
    random,
  );
  const { width, height } = page;
  const boxes = evidence.map((box) => boxAround([box], width, height));
  const facts: DocumentFacts = {
    family: 'documents',
    kind,
    difficulty,
    requiredTools: ['crop'],
    box: boxAround(boxes, width, height),
    evidence: boxes,
    program: { operation },
    tolerance: 0,
    typeface: style.typeface,
    sources,
  };
  return {
    id: `documents-${split}-${String(index).padStart(6, '0')}`,
    question,
    images: [await page.toImage('image_clue_0', style.paper, style.ink)],
    answer,
    metadata: { ...facts },
  };
}

/** A document of a kind, drawn anew until page and question go together; one in a few does. */
function drawDocument(
  kind: DocumentKind,
  split: Split,
  style: DocumentStyle,
  level: number,
  random: Random,
): AskedDocument {
  for (;;) {
    const made =
      kind === 'speech'
        ? speechPage(speechesOf(split), style, level, random)
        : kind === 'table'
          ? tablePage(tablesOf(split), style, level, random)
          : formPage(tablesOf(split), style, level, random);
    if (made !== undefined) return made;
  }
}
