/** The facts of a sample that metrics are made of, without its tokens and images. */
import { boxedContent, makeContext, type RewardContext, type Verifier } from '@saccade/rewards';
import type { EvaluatedTask } from '@saccade/run-store';
import { isToolUse, type ScoredTrajectory, type StopReason } from '@saccade/trajectory';
import { type ErrorKind, isUndecided, tagErrors } from '../error-taxonomy.ts';
import { countOperations } from '../tool-mixture.ts';
import { countLooks, visualTokens } from '../trajectory-metrics.ts';

/** What a sample is measured by. */
export interface SampleFacts {
  readonly taskIndex: number;
  readonly sampleIndex: number;
  /** The verifier's score, 0 to 1. */
  readonly score: number;
  readonly isCorrect: boolean;
  /** In the form in which equal answers are equal; absent where none was given. */
  readonly vote?: string;
  readonly turns: number;
  /** Code executions and tool calls, whatever came of them. */
  readonly calls: number;
  /** Those that ran without an error. */
  readonly callsRun: number;
  /** Tokens the model wrote. */
  readonly tokens: number;
  readonly contextTokens: number;
  readonly visualTokens: number;
  readonly stopReason: StopReason;
  /** Operations by category; see `countOperations`. */
  readonly operations: Readonly<Record<string, number>>;
  /** VISTA's kinds of a wrong sample, and `undecided`; empty for a right one. */
  readonly errors: readonly (ErrorKind | 'undecided')[];
}

/** How facts are read. */
export interface FactOptions {
  /** Share of the task's box that a crop has to cover to be no error of place. */
  readonly shownShare: number;
}

/** Never asked: a stored sample brings its verdict. */
const standing: Verifier = { name: 'stored verdict', verify: () => 0 };

/** The context of a stored sample, with the verdict that it has. */
export function storedContext(trajectory: ScoredTrajectory, task: EvaluatedTask): RewardContext {
  const { isCorrect, reward } = trajectory;
  const verdict = { isCorrect, score: reward };
  return makeContext(trajectory, task, { verifier: standing }, { verdict });
}

/** The facts of a sample. */
export function sampleFacts(
  trajectory: ScoredTrajectory,
  context: RewardContext,
  taskIndex: number,
  options: FactOptions,
): SampleFacts {
  const { segments, turns, sampleIndex, reward, isCorrect, stopReason, answer } = trajectory;
  const written = segments.filter(({ kind }) => kind === 'model');
  const tags = isCorrect ? [] : tagErrors(trajectory, context, options);
  const kinds = new Set<ErrorKind | 'undecided'>(tags.map(({ kind }) => kind));
  if (isUndecided(trajectory, tags)) kinds.add('undecided');
  return {
    taskIndex,
    sampleIndex,
    score: reward,
    isCorrect,
    ...(answer !== undefined && { vote: voteOf(answer) }),
    turns: turns.length,
    calls: countLooks(trajectory),
    callsRun: turns.filter(({ action, result }) => isToolUse(action) && result?.kind === 'ok')
      .length,
    tokens: written.reduce((sum, { tokens }) => sum + tokens.length, 0),
    contextTokens: segments.reduce((sum, { tokens }) => sum + tokens.length, 0),
    visualTokens: visualTokens(trajectory),
    stopReason,
    operations: countOperations(trajectory, context),
    errors: [...kinds].sort(),
  };
}

/** An answer as a vote: the box's content, in small letters; a number as that number. */
export function voteOf(answer: string): string {
  const text = (boxedContent(answer) ?? answer).trim().replaceAll(/\s+/g, ' ').toLowerCase();
  const plain = text.replaceAll(',', '').replace(/\.$/, '');
  const value = Number(plain);
  return plain !== '' && Number.isFinite(value) ? String(value) : text;
}
