/**
 * `documents-8mp`: find words and numbers on pages of 8.7 megapixels, an A4 sheet at 300 dots per inch.
 *
 * The pages of `documents`, with several real speeches, long tables or eighteen forms on each. Speeches,
 * rows, styles and typefaces of the held-out split are not in train.
 */
import { textList } from '@saccade/core/settings';
import { defineTaskSet, type Split } from '@saccade/gym';
import { z } from 'zod';
import { documentKinds } from '../documents/document.ts';
import { styleOfSize } from '../documents/document-style.ts';
import { type DocumentPlan, documentTask } from '../documents/document-task.ts';
import { cachedTasks, cacheSetting } from '../stored-tasks/task-cache.ts';
import { checkDifficulties, difficultySettings, drawDifficulty, someOf } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings('pages, styles and questions', 'smaller type, so more words'),
  kinds: textList({
    unit: 'kinds of documents',
    about: 'Some of speech, table and form; none means all.',
  }),
  cache: cacheSetting,
});

const TASKS = 1_000_000;
/** Pixels. */
const [WIDTH, HEIGHT] = [2480, 3508] as const;
/** Font size by difficulty 1 to 3; pixels. */
const sizes = [32, 26, 21] as const;
/** Pages are as full as they get. */
const FULL = 5;

/** Questions about pages of 8.7 megapixels. */
export const documents8mp = defineTaskSet({
  name: 'documents-8mp',
  description: 'Find words and numbers on pages of 8.7 megapixels: speeches, tables and forms.',
  settings,
  create(options) {
    checkDifficulties(options);
    const plan: DocumentPlan = {
      family: 'documents-8mp',
      seed: options.seed,
      kinds: someOf('kinds', options.kinds, documentKinds),
      difficultyOf: (random) => drawDifficulty(options, random),
      styleOf: (split, difficulty, random) =>
        styleOfSize(split, [WIDTH, HEIGHT, sizes[difficulty - 1] ?? sizes[0]], random),
      densityOf: () => FULL,
    };
    const plain = {
      size: () => TASKS,
      task: (split: Split, index: number) => documentTask(plan, split, index),
    };
    const { cache, ...drawn } = options;
    return cache === undefined ? plain : cachedTasks(plain, 'documents-8mp', drawn, cache);
  },
});
