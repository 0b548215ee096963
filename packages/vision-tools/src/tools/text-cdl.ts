/** Reads the text of a geometry problem into formal statements: VISTA's text_cdl. */
import { z } from 'zod';
import { defineVisionTool } from '../define-vision-tool.ts';
import { writeStatement } from '../geometry/cdl/write-cdl.ts';
import { readProblem } from '../geometry/language/read-problem.ts';
import { readingOutcome } from '../geometry/reading-outcome.ts';
import { answered, declined } from '../outcomes.ts';

export const textCdl = defineVisionTool({
  name: 'text_cdl',
  description:
    'Translates the text of a geometry problem into formal statements (CDL), one a line, such as ' +
    'Equal(LengthOfLine(AB),5), and says which of its clauses it did not understand.',
  says: 'a grammar of the phrases of English textbooks, with LaTeX.',
  parameters: { question: z.string().min(1).max(4000).describe('The text of the problem.') },
  example: { question: 'In triangle ABC, AB = AC and angle BAC = 40°. Find angle ABC.' },
  async embedded({ question }) {
    return readingOutcome(() => {
      const { statements, goals, unread } = readProblem(question);
      if (statements.length === 0 && goals.length === 0) {
        return declined(
          'CannotAnswer',
          'The text states nothing about a figure in words known here.',
        );
      }
      const lines = statements.length === 0 ? ['(none)'] : statements.map(writeStatement);
      if (unread.length > 0) lines.push(`Not understood: ${unread.join(' | ')}`);
      return answered(`Text CDL Result:\n${lines.join('\n')}`);
    });
  },
});
