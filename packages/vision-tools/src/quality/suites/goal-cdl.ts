/** The suite for the goals of geometry problems. */
import type { Outcome } from '@saccade/sandbox';
import { spell, statementsIn } from '../figures/statements.ts';
import { otherTexts, problemTexts } from '../problems/problem-texts.ts';
import { answerScores, type QualitySuite, unanswerableScores } from '../quality.ts';
import { grammar, ofText } from './text-cdl.ts';

export const goalCdl: QualitySuite = {
  tool: 'goal_cdl',
  backing: grammar,
  async cases() {
    return [
      ...problemTexts.map(({ text, asked }) => ({
        ...{ name: text, images: [], given: { question: text } },
        score: (outcome: Outcome) => answerScores(outcome, isGoal(outcome.stdout, asked)),
      })),
      ...otherTexts.map((text) => ({
        ...{ name: text, images: [], given: { question: text }, score: unanswerableScores },
      })),
    ];
  },
};

/** Whether an answer has this goal and no other. */
export function isGoal(stdout: string, asked: string): boolean {
  const [first = '', ...more] = statementsIn(stdout);
  return more.length === 0 && spell(first, ofText) === spell(asked, ofText);
}
