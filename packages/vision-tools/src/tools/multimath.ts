/** Answers questions about formulas: VISTA's MultiMath. */
import type { Outcome } from '@saccade/sandbox';
import type { ToolContext } from '@saccade/tools';
import { refused } from '@saccade/tools';
import { z } from 'zod';
import {
  type CallEngine,
  defineVisionTool,
  imageAt,
  imageIndex,
  isOutcome,
} from '../define-vision-tool.ts';
import { answered, declined } from '../outcomes.ts';
import { mathLines } from '../reading/math-lines.ts';
import { wordsOf } from '../reading/words.ts';
import { compute } from '../threads/compute-threads.ts';
import type { ChosenAnswer } from '../threads/jobs.ts';

const formats = ['answer_only', 'with_steps', 'detailed'] as const;
const problemTypes = ['geometry', 'algebra', 'word_problem', 'graph', 'table', 'general'] as const;

export const multimath = defineVisionTool({
  name: 'multimath',
  description:
    'Solves equations, systems and inequalities, evaluates, simplifies, factors and expands ' +
    'expressions, and finds derivatives, integrals, limits, matrices and units, with steps. Formulas ' +
    'in LaTeX or plain text; a formula in the image is read where the question has none.',
  says:
    'nerdamer-prime and math.js, each result put in again; no word problems. Formulas in images as far ' +
    'as PP-OCRv4 reads them in one line.',
  parameters: {
    question: z.string().max(2000).optional().describe('Such as: Solve x^2 - 5x + 6 = 0 for x.'),
    problem: z.string().max(2000).optional().describe('The same as question.'),
    prompt: z.string().max(2000).optional().describe('The same as question.'),
    task: z.enum(['solve', 'analyze', 'explain']).optional().describe('solve by default.'),
    choices: z.array(z.string().max(400)).max(26).optional().describe('Answers to choose from.'),
    problem_type: z.enum(problemTypes).optional().describe('general by default.'),
    output_format: z.enum(formats).optional().describe('with_steps by default.'),
    image_index: imageIndex,
  },
  example: { question: 'Solve x^2 - 5x + 6 = 0 for x.' },
  operations: ['ocr'],
  async embedded(given, context, engine, { timeoutSeconds }) {
    const { question = given.problem ?? given.prompt, choices = [], problem_type } = given;
    if (problem_type === 'word_problem') {
      return declined('CannotAnswer', 'Word problems are not read here. Write the equation first.');
    }
    if (problem_type === 'geometry' || problem_type === 'graph' || problem_type === 'table') {
      const tools = { geometry: 'gllava or inter_gps', graph: 'chartmoe', table: 'chartmoe' };
      const message = `Only formulas are read here. Call ${tools[problem_type]} for this.`;
      return declined('CannotAnswer', message);
    }
    const text =
      question === undefined || isAboutImage(question)
        ? await formulaIn(given.image_index ?? 0, context, engine, question)
        : question;
    if (typeof text !== 'string') return text;
    const aborting = context.signal === undefined ? {} : { signal: context.signal };
    const options = { deadlineMs: timeoutSeconds * 1000, ...aborting };
    const start = performance.now();
    const found = await compute({ kind: 'mathematics', question: text, choices }, options);
    const { output_format = given.task === 'explain' ? 'detailed' : 'with_steps' } = given;
    const body = written(found, text, choices, output_format);
    return answered(`MultiMath Solution:\n${body}`, { ms: performance.now() - start });
  },
});

/** Whether a question names no formula but one that the image shows. */
function isAboutImage(question: string): boolean {
  const isShown = /\b(?:image|picture|figure|shown|displayed|above|below)\b/i.test(question);
  return isShown && !/[=<>^]|\d\s*[-+*/]/.test(question);
}

/** The question's verb with the formulas that the image shows, or the outcome that says there are none. */
async function formulaIn(
  index: number,
  context: ToolContext,
  engine: CallEngine,
  question: string | undefined,
): Promise<string | Outcome> {
  if (question === undefined && context.images.length === 0) {
    return refused('MissingArgument', 'The argument question is missing. Give it, or an image.');
  }
  const image = imageAt(context, index);
  if (isOutcome(image)) return image;
  const { result } = await engine.run('ocr', {}, [image]);
  const lines = mathLines(wordsOf(result)).map(({ text }) => text);
  if (lines.length === 0) {
    return declined('NothingFound', 'The image shows no formula in one line. Write it as text.');
  }
  const verb =
    /\b(factor|expand|simplify|differentiate|integrate|derivative of|integral of)\b/i.exec(
      question ?? '',
    )?.[1];
  return `${verb ?? ''} ${lines.join(' ; ')}`.trim();
}

function written(
  { answer, steps, choice }: ChosenAnswer,
  question: string,
  choices: readonly string[],
  format: (typeof formats)[number],
): string {
  const lines: string[] = [];
  if (format === 'detailed') lines.push(`Question: ${question}`);
  if (format !== 'answer_only') lines.push(...steps.map((step, at) => `Step ${at + 1}: ${step}`));
  lines.push(`Answer: ${answer}`);
  if (choices.length > 0) {
    const letter = choice === undefined ? undefined : String.fromCharCode(65 + choice);
    lines.push(
      letter === undefined ? 'Choice: none fits' : `Choice: ${letter} (${choices[choice ?? 0]})`,
    );
  }
  return lines.join('\n');
}
