/** Questions about formulas with answers by SymPy, word problems, and questions without an answer. */
import type { Outcome } from '@saccade/sandbox';
import { hasAnswer, isRightAnswer, mathQuestions } from '../mathematics/questions.ts';
import { answerScores, type QualitySuite, type Scores, unanswerableScores } from '../quality.ts';

export const multimath: QualitySuite = {
  tool: 'multimath',
  backing: '`nerdamer-prime` 1.5.0 (MIT) and `mathjs` 15.2.0 (Apache-2.0); no weights',
  async cases() {
    const all = await mathQuestions();
    return all.map((one) => ({
      ...{ name: one.question, images: [] },
      given: { question: one.question, output_format: 'answer_only' },
      score(outcome: Outcome): Scores {
        if (!hasAnswer(one)) return unanswerableScores(outcome);
        const said = /^Answer: (.*)$/m.exec(outcome.stdout)?.[1] ?? '';
        const scores = answerScores(outcome, isRightAnswer(said, one));
        // Stories are said apart: the tool does not read them, so that declining is the best it does.
        if (one.kind !== 'word problem')
          return { ...scores, [`${one.kind} right`]: scores.right ?? 0 };
        return {
          'word problems wrong': scores.wrong ?? 0,
          'word problems declined': scores.declined ?? 0,
        };
      },
    }));
  },
};
