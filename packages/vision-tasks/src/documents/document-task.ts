/** Makes the tasks of documents: a page, a question about it, and the facts. */
import { type Random, randomAt } from '@saccade/core';
import type { Box, Split, Task } from '@saccade/gym';
import { tablesOf } from '../charts/tables.ts';
import { boxAround } from '../rendering/drawing.ts';
import type { AskedDocument, DocumentKind, DocumentOperation } from './document.ts';
import type { DocumentStyle } from './document-style.ts';
import { formPage } from './form-page.ts';
import { speechPage } from './speech-page.ts';
import { speechesOf } from './speeches.ts';
import { tablePage } from './table-page.ts';

/** Facts of a task, in its metadata. */
export interface DocumentFacts {
  /** The task set. */
  readonly family: string;
  readonly kind: DocumentKind;
  /** From 1. */
  readonly difficulty: number;
  /** Tools without which the overview is too coarse. */
  readonly requiredTools: readonly string[];
  readonly needsSearch: boolean;
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

/** A page that is drawn and asked about. */
export interface DocumentPlan {
  /** Name of the task set; part of ids and of random addresses. */
  readonly family: string;
  readonly seed: number;
  readonly kinds: readonly DocumentKind[];
  /** Draws the difficulty. */
  readonly difficultyOf: (random: Random) => number;
  readonly styleOf: (split: Split, difficulty: number, random: Random) => Promise<DocumentStyle>;
  /** How much is on a page of a difficulty, from 1 to 5. */
  readonly densityOf: (difficulty: number) => number;
}

/** The task at an index. */
export async function documentTask(plan: DocumentPlan, split: Split, index: number): Promise<Task> {
  const { family } = plan;
  const random = randomAt(plan.seed, family, split, index);
  const difficulty = plan.difficultyOf(random);
  const kind = random.pick(plan.kinds);
  const style = await plan.styleOf(split, difficulty, random);
  const { page, operation, question, answer, evidence, sources } = drawDocument(
    kind,
    split,
    style,
    plan.densityOf(difficulty),
    random,
  );
  const { width, height } = page;
  const boxes = evidence.map((box) => boxAround([box], width, height));
  const facts: DocumentFacts = {
    family,
    kind,
    difficulty,
    requiredTools: ['crop'],
    needsSearch: true,
    box: boxAround(boxes, width, height),
    evidence: boxes,
    program: { operation },
    tolerance: 0,
    typeface: style.typeface,
    sources,
  };
  return {
    id: `${family}-${split}-${String(index).padStart(6, '0')}`,
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
