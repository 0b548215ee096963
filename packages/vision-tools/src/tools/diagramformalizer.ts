/** Formalizes a geometry problem, diagram and text: VISTA's DiagramFormalizer. */
import { z } from 'zod';
import { defineVisionTool, imageIndex } from '../define-vision-tool.ts';
import { CdlError } from '../geometry/cdl/errors.ts';
import { writeGoal, writeStatement } from '../geometry/cdl/write-cdl.ts';
import { type ReadProblem, readProblem } from '../geometry/language/read-problem.ts';
import { isDeclined, readDiagram } from '../geometry/read-diagram.ts';
import { answered } from '../outcomes.ts';

export const diagramformalizer = defineVisionTool({
  name: 'diagramformalizer',
  description:
    'Formalizes a geometry problem: construction_cdl and image_cdl of the diagram and, with the text ' +
    'of the problem, text_cdl and goal_cdl.',
  says: 'the readers behind image_cdl and text_cdl.',
  parameters: {
    task: z.enum(['formalize', 'extract_cdl']).optional().describe('Both give all of it.'),
    prompt: z.string().max(4000).optional().describe('The text of the problem.'),
    problem: z.string().max(4000).optional().describe('The same as prompt.'),
    time_limit: z.number().positive().max(600).optional().describe('Seconds; 60 by default.'),
    max_new_tokens: z
      .int()
      .positive()
      .max(100_000)
      .optional()
      .describe('Of a language model that serves this tool; nothing is generated here.'),
    image_index: imageIndex,
  },
  example: { task: 'formalize' },
  operations: ['image_cdl'],
  async embedded({ prompt, problem, image_index = 0, time_limit = 60 }, context, engine) {
    const bounded: typeof engine = {
      run: (operation, params, images, options) =>
        engine.run(operation, params, images, { deadlineMs: time_limit * 1000, ...options }),
    };
    const diagram = await readDiagram(context, image_index, bounded);
    if (isDeclined(diagram)) return diagram;
    const parts = [
      part('construction_cdl', diagram.construction.map(writeStatement)),
      part('image_cdl', diagram.marks.map(writeStatement)),
    ];
    const unread = [...diagram.unread];
    const text = prompt ?? problem;
    const read = text === undefined ? undefined : readIfText(text, unread);
    if (read !== undefined) {
      parts.push(part('text_cdl', read.statements.map(writeStatement)));
      parts.push(part('goal_cdl', read.goals.map(writeGoal)));
    }
    if (unread.length > 0) parts.push(`Not understood: ${unread.join(' | ')}`);
    return answered(`DiagramFormalizer Analysis:\n${parts.join('\n')}`);
  },
});

function part(name: string, statements: readonly string[]): string {
  return `The ${name} is:\n${statements.length === 0 ? '(none)' : statements.join('\n')}`;
}

function readIfText(text: string, unread: string[]): ReadProblem | undefined {
  try {
    const read = readProblem(text);
    unread.push(...read.unread);
    return read;
  } catch (error) {
    if (!(error instanceof CdlError)) throw error;
    unread.push(error.message);
    return undefined;
  }
}
