/** How good tools are on cases whose truth is known because it was drawn. */
import type { Outcome } from '@saccade/sandbox';
import type { GivenArguments, ToolImage } from '@saccade/tools';
import { editDistance } from '../edit-distance.ts';
import type { EngineResult } from '../workers/vision-engine.ts';

/** Makes images and their truth with `quality/python`, in a process that no tool shares. */
export type Draw = (
  operation: string,
  params: object,
  images?: readonly Uint8Array[],
) => Promise<EngineResult>;

/** One call whose answer is known. */
export interface QualityCase {
  readonly name: string;
  readonly images: readonly ToolImage[];
  readonly given: GivenArguments;
  /** How right an outcome is, from 0 to 1, by what is measured, such as `recall`. */
  score(outcome: Outcome): Promise<Scores> | Scores;
}

/**
 * Numbers from 0 to 1, larger is better, except for `shortfalls`; one that does not apply to a case is left
 * out.
 */
export type Scores = Readonly<Record<string, number>>;

/** Shares of questions that were answered wrong, or not at all. */
export const shortfalls: ReadonlySet<string> = new Set(['wrong', 'declined']);

/** Scores of a question that has an answer: one of `right`, `wrong` and `declined` is 1. */
export function answerScores({ kind }: Outcome, isRight: boolean): Scores {
  const [right, wrong] = [kind === 'ok' && isRight, kind === 'ok' && !isRight];
  return { right: Number(right), wrong: Number(wrong), declined: Number(kind !== 'ok') };
}

/** The number of an answer such as `Answer: 2√3 ≈ 3.4641` or `Answer: 15/2`; not a number without one. */
export function saidValue({ stdout }: Outcome): number {
  const said = /^Answer: (.*)$/m.exec(stdout)?.[1]?.split('≈').at(-1)?.trim() ?? '';
  const [above = '', below = '1'] = said.split('/');
  return above === '' ? Number.NaN : Number(above) / Number(below);
}

/** Score of a question that has no answer: whether the tool says so instead of inventing one. */
export function unanswerableScores({ error }: Outcome): Scores {
  const isSaid = error?.type === 'CannotAnswer' || error?.type === 'NothingFound';
  return { 'unanswerable said': Number(isSaid) };
}

/** The cases of one tool. */
export interface QualitySuite {
  /** The tool's name. */
  readonly tool: string;
  /** The software behind it: package, license, weights. */
  readonly backing: string;
  /** At least 50 cases; the same each time. */
  cases(draw: Draw): Promise<readonly QualityCase[]>;
}

/** The median, and what one in twenty is above. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
}

/** The results of a suite. */
export interface QualityReport {
  readonly tool: string;
  readonly backing: string;
  readonly arguments: readonly string[];
  readonly cases: number;
  /**
   * Milliseconds of work of a call with an image that the suite has not shown before, without waiting: by
   * the clock, and of processors.
   */
  readonly ms: Spread;
  readonly cpuMs: Spread;
  /** The mean of each score, and how many cases it is of. */
  readonly scores: Readonly<Record<string, { readonly mean: number; readonly cases: number }>>;
  /** The worst cases by the mean of their scores, for a look. */
  readonly worst: readonly { readonly name: string; readonly score: number }[];
}

/** Images of a drawing as those of a call. */
export function asImages({ images }: Pick<EngineResult, 'images'>): readonly ToolImage[] {
  return images.map((image, index) => ({ name: `image_${index}`, ...image }));
}

/** Intersection over union of two boxes [l, t, r, b]. */
export function boxOverlap(one: readonly number[], other: readonly number[]): number {
  const at = (box: readonly number[], index: number): number => box[index] ?? 0;
  const area = (box: readonly number[]): number =>
    Math.max(0, at(box, 2) - at(box, 0)) * Math.max(0, at(box, 3) - at(box, 1));
  const shared = area([
    Math.max(at(one, 0), at(other, 0)),
    Math.max(at(one, 1), at(other, 1)),
    Math.min(at(one, 2), at(other, 2)),
    Math.min(at(one, 3), at(other, 3)),
  ]);
  return shared / Math.max(area(one) + area(other) - shared, 1e-9);
}

/** 1 less the share of edits that lead from one text to another. */
export function textLikeness(found: string, truth: string): number {
  return Math.max(0, 1 - editDistance(found, truth) / Math.max(truth.length, 1));
}

/** Lines `text [l, t, r, b]` of an answer, without its first line. */
export function boxedLines(
  stdout: string,
  separator: string,
): readonly { readonly text: string; readonly box: readonly number[] }[] {
  return stdout
    .slice(stdout.indexOf('\n') + 1)
    .split(separator)
    .flatMap((part) => {
      const match = /^(.*?) ?\[(-?\d+), (-?\d+), (-?\d+), (-?\d+)\]/s.exec(part);
      if (match === null) return [];
      return [{ text: match[1] ?? '', box: match.slice(2, 6).map(Number) }];
    });
}
