/** Problems of diagrams with their questions: some with an answer, some that no diagram answers. */
import type { Outcome } from '@saccade/sandbox';
import { diagramReader } from '../figures/diagram-suite.ts';
import { drawnFigures } from '../figures/figure-cases.ts';
import { openQuestionOf, questionOf } from '../figures/questions.ts';
import { answerScores, type QualitySuite, saidValue, unanswerableScores } from '../quality.ts';
import { prover } from './inter-gps.ts';
import { grammar } from './text-cdl.ts';

export const gllava: QualitySuite = {
  tool: 'gllava',
  backing: `${diagramReader}; ${grammar}; ${prover}`,
  async cases(draw) {
    const figures = await drawnFigures(draw);
    const solved = figures.map((figure) => {
      const { text, answer } = questionOf(figure);
      return {
        ...{ name: figure.name, images: figure.images, given: { question: text } },
        score: (outcome: Outcome) =>
          answerScores(outcome, Math.abs(saidValue(outcome) - answer) < 1e-6),
      };
    });
    const open = figures.slice(0, 17).flatMap((figure) => {
      const question = openQuestionOf(figure)?.text;
      if (question === undefined) return [];
      const { name, images } = figure;
      return [
        { ...{ name: `${name}, open`, images, given: { question } }, score: unanswerableScores },
      ];
    });
    return [...solved, ...open];
  },
};
