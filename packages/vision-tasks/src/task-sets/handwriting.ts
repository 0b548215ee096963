/**
 * `handwriting`: read amounts and remarks that are written by hand into a printed ledger.
 *
 * Amounts are real digits of MNIST, each by another hand; remarks are in typefaces drawn after
 * handwriting. Digits, items, words, papers, pens and typefaces of the held-out split are not in train:
 * MNIST's own test digits are the held-out ones, of other writers.
 */
import { randomAt } from '@saccade/core';
import { type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import {
  askLedger,
  type LedgerOperation,
  type LedgerProgram,
  ledgerOperations,
} from '../handwriting/ask-ledger.ts';
import { drawLedger } from '../handwriting/ledger.ts';
import { boxAround } from '../rendering/drawing.ts';
import { checkDifficulties, difficultySettings, drawDifficulty, someOf } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings('ledgers, hands and questions', 'larger pages with more rows'),
  operations: textList({
    unit: 'kinds of questions',
    about: `Some of ${ledgerOperations.join(', ')}; none means all.`,
  }),
});

/** Facts of a task, in its metadata. */
export interface HandwritingFacts {
  readonly family: 'handwriting';
  /** 1 to 3. */
  readonly difficulty: number;
  /** Tools without which the overview is too coarse. */
  readonly requiredTools: readonly string[];
  readonly needsSearch: boolean;
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** What the answer is read from; pixels. */
  readonly evidence: readonly Box[];
  readonly program: LedgerProgram;
  readonly tolerance: number;
  readonly typeface: string;
  readonly hand: string;
  readonly rows: readonly {
    readonly item: string;
    readonly amount: number;
    readonly remark: string;
  }[];
  readonly sources: readonly string[];
}

const TASKS = 1_000_000;
const ZOOM_FROM = 2;

/** Questions about handwritten amounts and words. */
export const handwriting = defineTaskSet({
  name: 'handwriting',
  description: 'Read amounts in real handwritten digits and handwritten remarks off ledgers.',
  settings,
  create(options) {
    checkDifficulties(options);
    const operations = someOf('operations', options.operations, ledgerOperations);
    return {
      size: () => TASKS,
      task: (split, index) => makeTask(options, operations, split, index),
    };
  },
});

async function makeTask(
  options: SettingsOf<typeof settings>,
  operations: readonly LedgerOperation[],
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'handwriting', split, index);
  const difficulty = drawDifficulty(options, random);
  const { canvas, rows, typeface, hand } = await drawLedger(split, difficulty, random);
  const asked = askLedger(rows, random.pick(operations), random);
  const { width, height } = canvas;
  const evidence = asked.evidence.map((box) => boxAround([box], width, height));
  const facts: HandwritingFacts = {
    family: 'handwriting',
    difficulty,
    requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
    needsSearch: difficulty >= ZOOM_FROM,
    box: boxAround(evidence, width, height),
    evidence,
    program: asked.program,
    tolerance: 0,
    typeface,
    hand,
    rows: rows.map(({ item, amount, remark }) => ({ item, amount, remark })),
    sources: ['mnist', 'speeches.json'],
  };
  return {
    id: `handwriting-${split}-${String(index).padStart(6, '0')}`,
    question: asked.question,
    images: [await canvas.toImage('image_clue_0')],
    answer: asked.answer,
    metadata: { ...facts },
  };
}
