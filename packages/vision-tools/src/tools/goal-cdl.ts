/** Finds what a geometry problem asks for: VISTA's goal_cdl. */
import { z } from 'zod';
import { defineVisionTool } from '../define-vision-tool.ts';
import { writeGoal } from '../geometry/cdl/write-cdl.ts';
import { readProblem } from '../geometry/language/read-problem.ts';
import { readingOutcome } from '../geometry/reading-outcome.ts';
import { answered, declined } from '../outcomes.ts';

export const goalCdl = defineVisionTool({
  name: 'goal_cdl',
  description:
    'Translates the question of a geometry problem into a formal goal (CDL), such as ' +
    'Value(MeasureOfAngle(ABC)) or Relation(ParallelBetweenLine(AB,CD)).',
  says: 'a grammar of the questions of English textbooks, with LaTeX.',
  parameters: { question: z.string().min(1).max(4000).describe('The text of the problem.') },
  example: { question: 'In triangle ABC, AB = AC and angle BAC = 40°. Find angle ABC.' },
  async embedded({ question }) {
    return readingOutcome(() => {
      const { goals } = readProblem(question);
      if (goals.length === 0) {
        const message =
          'The text asks for nothing in words known here. Write for example: Find AB.';
        return declined('CannotAnswer', message);
      }
      return answered(`Goal CDL Result:\n${goals.map(writeGoal).join('\n')}`);
    });
  },
});
