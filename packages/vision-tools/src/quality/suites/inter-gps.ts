/** Problems in formal language: to be solved, to be verified, and some from which nothing follows. */
import type { Outcome } from '@saccade/sandbox';
import { laidFigures } from '../figures/figure-cases.ts';
import { openQuestionOf, questionOf } from '../figures/questions.ts';
import type { Laid } from '../figures/scene.ts';
import { builtTruth, marksTruth } from '../figures/statements.ts';
import { formalProblems } from '../problems/formal-problems.ts';
import {
  answerScores,
  type QualityCase,
  type QualitySuite,
  saidValue,
  unanswerableScores,
} from '../quality.ts';

/** The software that proves. */
export const prover = 'an own deductive engine with exact arithmetic (`fraction.js` 5.3.4, MIT)';

export const interGps: QualitySuite = {
  tool: 'inter_gps',
  backing: prover,
  async cases() {
    const figures = laidFigures();
    return [
      ...figures.map(solveCase),
      ...formalProblems.map(({ statements, answer }) => ({
        ...{ name: statements.join(' '), images: [], given: { text_logic: statements } },
        score: (outcome: Outcome) =>
          answerScores(outcome, Math.abs(saidValue(outcome) - answer) < 1e-4 * answer),
      })),
      ...figures.slice(0, 17).map(verifyCase),
      ...figures.slice(0, 17).flatMap(openCase),
    ];
  },
};

/** The figure in formal language, as a diagram and a text that were read without a fault give it. */
function formal(figure: Laid): {
  readonly text: readonly string[];
  readonly diagram: readonly string[];
} {
  return {
    text: questionOf(figure).said,
    diagram: [...builtTruth(figure), ...marksTruth(figure)],
  };
}

function solveCase(figure: Laid): QualityCase {
  const { text, diagram } = formal(figure);
  const { goal, answer } = questionOf(figure);
  return {
    name: figure.scene.name,
    images: [],
    given: { task: 'solve', text_logic: [...text, goal], diagram_logic: diagram },
    score: (outcome) => answerScores(outcome, Math.abs(saidValue(outcome) - answer) < 1e-6),
  };
}

/** A verification case: for every second figure, the answer is wrong and must be found out. */
function verifyCase(figure: Laid, index: number): QualityCase {
  const { text, diagram } = formal(figure);
  const { goal, answer } = questionOf(figure);
  const isTrue = index % 2 === 0;
  const given = `${isTrue ? answer : answer + 1}`;
  return {
    name: `${figure.scene.name}, ${given}`,
    images: [],
    given: { task: 'verify', text_logic: [...text, goal], diagram_logic: diagram, answer: given },
    score: ({ stdout }) => ({
      verified: Number(stdout.includes(`\n${given} is ${isTrue ? '' : 'not '}right.`)),
    }),
  };
}

function openCase(figure: Laid): readonly QualityCase[] {
  const goal = openQuestionOf(figure)?.goal;
  if (goal === undefined) return [];
  const { text, diagram } = formal(figure);
  return [
    {
      name: `${figure.scene.name}, open`,
      images: [],
      given: { text_logic: [...text, goal], diagram_logic: diagram },
      score: unanswerableScores,
    },
  ];
}
