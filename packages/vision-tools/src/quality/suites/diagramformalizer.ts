/** Diagrams with the text of their problem: the four parts that a formalization has. */
import type { Outcome } from '@saccade/sandbox';
import { diagramReader } from '../figures/diagram-suite.ts';
import { type DrawnFigure, drawnFigures } from '../figures/figure-cases.ts';
import { questionOf } from '../figures/questions.ts';
import { builtTruth, marksTruth, statementScores, statementsIn } from '../figures/statements.ts';
import { answerScores, type QualitySuite, type Scores } from '../quality.ts';
import { isGoal } from './goal-cdl.ts';
import { grammar } from './text-cdl.ts';

export const diagramformalizer: QualitySuite = {
  tool: 'diagramformalizer',
  backing: `${diagramReader}; ${grammar}`,
  async cases(draw) {
    const figures = await drawnFigures(draw);
    return figures.map((figure) => ({
      ...{ name: figure.name, images: figure.images },
      given: { task: 'formalize', prompt: questionOf(figure).text },
      score: (outcome: Outcome) => partScores(outcome, figure),
    }));
  },
};

function partScores(outcome: Outcome, figure: DrawnFigure): Scores {
  const spelling = { lines: figure.drawing.lines, isOriented: true };
  const part = (name: string): readonly string[] => {
    const [, after = ''] = outcome.stdout.split(`The ${name} is:\n`);
    return statementsIn(after.split('\nThe ')[0] ?? '');
  };
  const { right = 0 } = answerScores(
    outcome,
    isGoal(part('goal_cdl').join('\n'), questionOf(figure).goal),
  );
  return {
    ...statementScores(part('construction_cdl'), builtTruth(figure), spelling, 'construction'),
    ...statementScores(part('image_cdl'), marksTruth(figure), spelling, 'marks'),
    goals: right,
  };
}
