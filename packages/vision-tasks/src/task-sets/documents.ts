/**
 * `documents`: find words and numbers on pages of small print.
 *
 * Pages of real speeches, real tables and forms filled from them. The answer is printed on the page or
 * counted there. Speeches, rows, styles and typefaces of the held-out split are not in train.
 */
import { textList } from '@saccade/core/settings';
import { defineTaskSet } from '@saccade/gym';
import { z } from 'zod';
import { documentKinds } from '../documents/document.ts';
import { documentStyle } from '../documents/document-style.ts';
import { type DocumentPlan, documentTask } from '../documents/document-task.ts';
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

const TASKS = 1_000_000;

/** Questions about pages of small print. */
export const documents = defineTaskSet({
  name: 'documents',
  description: 'Find words and numbers on pages of speeches, tables and forms in small print.',
  settings,
  create(options) {
    checkDifficulties(options);
    const kinds = someOf('kinds', options.kinds, documentKinds);
    const plan: DocumentPlan = {
      family: 'documents',
      seed: options.seed,
      kinds,
      difficultyOf: (random) => drawLevel(options, random),
      styleOf: documentStyle,
      densityOf: (difficulty) => difficulty,
    };
    return { size: () => TASKS, task: (split, index) => documentTask(plan, split, index) };
  },
});
