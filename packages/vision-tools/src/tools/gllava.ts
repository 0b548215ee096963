/** Solves a geometry problem from its diagram and text: VISTA's G-LLaVA. */
import { z } from 'zod';
import { defineVisionTool, imageIndex } from '../define-vision-tool.ts';
import { answerLines, failureText, isSolved } from '../geometry/answer-lines.ts';
import { CdlError } from '../geometry/cdl/errors.ts';
import { writeGoal, writeStatement } from '../geometry/cdl/write-cdl.ts';
import { type ReadProblem, readProblem } from '../geometry/language/read-problem.ts';
import { isDeclined, readDiagram } from '../geometry/read-diagram.ts';
import { answered, declined } from '../outcomes.ts';
import { compute } from '../threads/compute-threads.ts';

const formats = ['answer_only', 'with_steps', 'detailed'] as const;

export const gllava = defineVisionTool({
  name: 'gllava',
  description:
    'Solves a geometry problem from its diagram and its text, with a proof: task solve. task analyze ' +
    'says what the diagram shows.',
  says:
    'the readers behind image_cdl and text_cdl and the prover behind inter_gps; it declines what they ' +
    'cannot read or prove, and does not guess.',
  parameters: {
    question: z.string().min(1).max(4000).describe('The text of the problem with its question.'),
    task: z.enum(['solve', 'analyze']).optional().describe('solve by default.'),
    choices: z.array(z.string().max(400)).max(26).optional().describe('Answers to choose from.'),
    problem_type: z.string().max(40).optional().describe('geometry; others are declined.'),
    output_format: z.enum(formats).optional().describe('with_steps by default.'),
    image_index: imageIndex,
  },
  example: { question: 'What does the diagram show?', task: 'analyze' },
  operations: ['image_cdl'],
  async embedded(given, context, engine, { timeoutSeconds }) {
    const { question, task = 'solve', choices = [], output_format = 'with_steps' } = given;
    if (given.problem_type !== undefined && given.problem_type !== 'geometry') {
      return declined('CannotAnswer', 'Only geometry is solved here. Call multimath for formulas.');
    }
    const text = readText(question);
    if (text instanceof CdlError) return declined('CannotAnswer', text.message);
    if (task === 'solve' && text.goals.length === 0) {
      const message = 'It is not clear what is asked. Write for example: Find angle ABC.';
      return declined('CannotAnswer', message);
    }
    const diagram = await readDiagram(context, given.image_index ?? 0, engine);
    if (isDeclined(diagram)) return diagram;
    const shown = [...diagram.construction, ...diagram.marks].map(writeStatement);
    if (task === 'analyze') {
      const lines = diagram.unread.length === 0 ? shown : [...shown, note(diagram.unread)];
      return answered(`G-LLaVA Geometric Analysis:\n${lines.join('\n')}`);
    }
    const cdl = [...shown, ...text.statements.map(writeStatement), ...text.goals.map(writeGoal)];
    const seconds = Math.min(20, timeoutSeconds);
    const problem = {
      cdl,
      strategy: 'low-first',
      stepLimit: 100,
      timeLimitMs: seconds * 1000,
      seed: 1,
    } as const;
    const aborting = context.signal === undefined ? {} : { signal: context.signal };
    const options = { deadlineMs: (2 * seconds + 2) * 1000, ...aborting };
    const start = performance.now();
    const found = await compute({ kind: 'geometry', problem, choices }, options);
    const unread = [...text.unread, ...diagram.unread];
    if (!isSolved(found)) {
      const rest = unread.length === 0 ? '' : ` ${note(unread)}.`;
      return declined('CannotAnswer', `${failureText(found)}${rest}`);
    }
    const lines = [...answerLines(found, { withProof: output_format !== 'answer_only' })];
    if (output_format === 'detailed') lines.unshift('Statements:', ...found.statements, 'Proof:');
    if (choices.length > 0) lines.push(choiceLine(found.choice, choices));
    if (unread.length > 0) lines.push(note(unread));
    const body = `G-LLaVA Geometric Analysis:\n${lines.join('\n')}`;
    return answered(body, { ms: performance.now() - start });
  },
});

function readText(question: string): ReadProblem | CdlError {
  try {
    return readProblem(question);
  } catch (error) {
    if (error instanceof CdlError) return error;
    throw error;
  }
}

function note(unread: readonly string[]): string {
  return `Not understood: ${unread.join(' | ')}`;
}

function choiceLine(choice: number | undefined, choices: readonly string[]): string {
  if (choice === undefined) return 'Choice: none fits';
  return `Choice: ${String.fromCharCode(65 + choice)} (${choices[choice]})`;
}
