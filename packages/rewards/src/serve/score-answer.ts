/** Scores one response of another trainer's model: rules first, then a judge if there is one. */
import type { Ask } from '../ask-judge.ts';
import type { AnswerInput } from '../judges/answer-judge.ts';
import { verifiers } from '../registry.ts';
import { answerIn } from '../response.ts';
import { multipleChoiceOf } from '../verifiers/multiple-choice.ts';

/** One response to score. */
export interface Scored {
  readonly response: string;
  /** The right answer. */
  readonly expected: string;
  /** The question; a judge needs it. */
  readonly question?: string;
  /** Name of a verifier; default the service's. */
  readonly verifier?: string;
  /** Texts of the options A, B, C, … of a multiple choice question. */
  readonly options?: readonly string[];
}

/** @throws RewardError if the judge failed, ConfigError for an unknown verifier */
export type ScoreAnswer = (item: Scored) => Promise<number>;

export interface ScoreOptions {
  readonly verifier: string;
  readonly ask?: Ask<AnswerInput>;
}

/** 0 … 1. A response without an answer, or with too long a one, is wrong and never judged. */
export function openScoreAnswer({ verifier, ask }: ScoreOptions): ScoreAnswer {
  verifiers.get(verifier);
  return async ({ response, expected, question, verifier: own = verifier, options }) => {
    const rule = options === undefined ? verifiers.get(own) : multipleChoiceOf(options);
    const answer = answerIn(response);
    if (answer === undefined) return 0;
    const score = rule.verify(answer, expected);
    if (score >= 0.5 || ask === undefined || question === undefined) return score;
    return Math.max(score, await ask({ question, answer, expected }));
  };
}
