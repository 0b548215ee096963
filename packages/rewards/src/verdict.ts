/** Decides once per trajectory whether its final answer is right, and says why not. */
import type { Trajectory } from '@saccade/trajectory';
import type { Verifier } from './reward.ts';

/**
 * Why an answer was refused without being compared:
 *
 * - `noAnswer` the trajectory ended without one;
 * - `unbalancedTags` its text opens and closes `<answer>` a different number of times;
 * - `nestedTags` the answer itself holds an answer or image tag;
 * - `tooLong` the answer has `maxAnswerCharacters` or more;
 * - `notBoxed` the answer has no `\boxed{}`, where one is required.
 */
export type Refusal = 'noAnswer' | 'unbalancedTags' | 'nestedTags' | 'tooLong' | 'notBoxed';

/** Whether a trajectory's final answer is right, decided once for all rewards. */
export interface Verdict {
  /** The verifier's score is high enough, and nothing refused. */
  readonly isCorrect: boolean;
  /** The verifier's score; 0 where the answer was refused. */
  readonly score: number;
  /** The text that was compared. */
  readonly answer?: string;
  readonly refusal?: Refusal;
}

/** Options of `judge`. */
export interface VerdictOptions {
  /** Answers this long or longer are wrong. Default 1000. */
  readonly maxAnswerCharacters?: number;
  /** Whether an answer without `\boxed{}` is wrong; else it is compared as it is. Default false. */
  readonly requireBox?: boolean;
  /** Score of the verifier from which an answer is right. Default 0.5. */
  readonly correctFrom?: number;
}

/**
 * The verdict on a trajectory's answer.
 *
 * The rules are those of PyVision-RL's extraction code, with one difference: there an answer of
 * 1000 characters scores 0 but may still be flagged right, and so earn the tool reward; here an
 * answer that is refused is wrong for every reward.
 */
export function judge(
  trajectory: Trajectory,
  expected: string,
  verifier: Verifier,
  options: VerdictOptions = {},
): Verdict {
  const { maxAnswerCharacters = 1000, requireBox = false, correctFrom = 0.5 } = options;
  const { answer } = trajectory;
  if (answer === undefined) return refused('noAnswer');
  const said = trajectory.segments
    .filter((segment) => segment.kind === 'model')
    .map((segment) => segment.text)
    .join('\n');
  if (occurrences(said, '<answer>') !== occurrences(said, '</answer>')) {
    return refused('unbalancedTags');
  }
  if (/<\/?answer>|<\/?image_clue_\d+>|<\|vision_(start|end)\|>/.test(answer)) {
    return refused('nestedTags');
  }
  if (answer.length >= maxAnswerCharacters) return refused('tooLong');
  const boxed = boxedContent(answer);
  if (requireBox && boxed === undefined) return refused('notBoxed');
  const compared = boxed ?? answer.trim();
  const score = verifier.verify(compared, expected);
  return { isCorrect: score >= correctFrom, score, answer: compared };
}

/** The content of the last `\boxed{…}` of a text, with balanced braces; undefined without one. */
export function boxedContent(text: string): string | undefined {
  const opening = '\\boxed{';
  const start = text.lastIndexOf(opening);
  if (start < 0) return undefined;
  let depth = 1;
  for (let at = start + opening.length; at < text.length; at++) {
    const character = text[at];
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (depth === 0) return text.slice(start + opening.length, at).trim();
  }
  return undefined;
}

function refused(refusal: Refusal): Verdict {
  return { isCorrect: false, score: 0, refusal };
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}
