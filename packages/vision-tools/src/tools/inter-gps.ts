/** Solves geometry problems in formal language, with a proof: VISTA's Inter-GPS. */
import type { Outcome } from '@saccade/sandbox';
import type { ToolContext } from '@saccade/tools';
import { refused } from '@saccade/tools';
import { z } from 'zod';
import { type CallEngine, defineVisionTool, imageIndex } from '../define-vision-tool.ts';
import { answerLines, failureText, isSolved } from '../geometry/answer-lines.ts';
import { CdlError } from '../geometry/cdl/errors.ts';
import { writeGoal, writeStatement } from '../geometry/cdl/write-cdl.ts';
import { readProblem } from '../geometry/language/read-problem.ts';
import { isDeclined, readDiagram } from '../geometry/read-diagram.ts';
import type { GeometryAnswer, GeometryProblem } from '../geometry/solve-problem.ts';
import { answered, declined } from '../outcomes.ts';
import { compute } from '../threads/compute-threads.ts';

const statements = z.array(z.string().max(2000)).max(400);

export const interGps = defineVisionTool({
  name: 'inter_gps',
  description:
    'Solves a geometry problem in formal language by applying theorems step by step, and gives the ' +
    'proof. task: solve gives the answer, formalize the statements, verify whether an answer is right. ' +
    'text_logic and diagram_logic are statements such as Equal(LengthOfLine(AB),5), ' +
    'Equals(LengthOf(Line(A, B)), 5), Shape(AB,BC,CA), Collinear(ADB), and a goal such as Value(x) or ' +
    'Find(MeasureOf(Angle(A, B, C))). Instead of them, question and the image are formalized.',
  says: 'an own deductive engine with 39 theorems and exact arithmetic; every step is proved.',
  parameters: {
    task: z.enum(['solve', 'formalize', 'verify']).optional().describe('solve by default.'),
    text_logic: statements.optional().describe('Statements of the text, and the goal.'),
    diagram_logic: statements.optional().describe('Statements of the diagram.'),
    question: z.string().max(4000).optional().describe('The text, in place of text_logic.'),
    answer: z.string().max(200).optional().describe('What verify compares with.'),
    strategy: z
      .enum(['final', 'predict', 'random', 'low-first'])
      .optional()
      .describe(
        'Order of theorems: simple ones first (low-first, the default), drawn (random), only those that fit the goal (predict), or these first (final).',
      ),
    time_limit: z.number().positive().max(100).optional().describe('Seconds; 20 by default.'),
    step_limit: z.int().positive().max(1000).optional().describe('Theorems; 100 by default.'),
    image_index: imageIndex,
  },
  example: {
    task: 'solve',
    text_logic: [
      'Equals(LengthOf(Line(A, B)), LengthOf(Line(A, C)))',
      'Find(MeasureOf(Angle(A, B, C)))',
    ],
    diagram_logic: ['Shape(AB,BC,CA)', 'Equal(MeasureOfAngle(BAC),40)'],
  },
  operations: ['image_cdl'],
  async embedded(given, context, engine, { timeoutSeconds }) {
    const { task = 'solve', answer } = given;
    if (task === 'verify' && answer === undefined) {
      return refused('MissingArgument', 'The argument answer is missing. Give it for task verify.');
    }
    const cdl = await statementsOf(given, context, engine);
    if ('kind' in cdl) return cdl;
    const seconds = Math.min(given.time_limit ?? 20, timeoutSeconds);
    const problem: GeometryProblem = {
      cdl: cdl.lines,
      strategy: given.strategy ?? 'low-first',
      stepLimit: task === 'formalize' ? 1 : (given.step_limit ?? 100),
      timeLimitMs: seconds * 1000,
      seed: 1,
    };
    // The engine looks at its clock between theorems; the thread ends one that does not come back.
    const options = { deadlineMs: Math.min(2 * seconds + 2, timeoutSeconds + 1) * 1000 };
    const aborting = context.signal === undefined ? {} : { signal: context.signal };
    const choices = answer === undefined ? [] : [answer];
    const start = performance.now();
    const found = await compute(
      { kind: 'geometry', problem, choices },
      { ...options, ...aborting },
    );
    const done = { ms: performance.now() - start };
    if (task === 'formalize') {
      const goals = found.answers.map(({ goal }) => goal);
      const lines = [...found.statements, ...goals].join('\n');
      return answered(`Inter-GPS Formalization:\n${lines}${cdl.note}`, done);
    }
    return task === 'verify' ? verified(found, answer ?? '', done) : solved(found, cdl.note, done);
  },
});

function solved(found: GeometryAnswer, note: string, done: { readonly ms: number }): Outcome {
  if (found.answers.length === 0) {
    return declined('CannotAnswer', 'There is no goal. Add one such as Value(LengthOfLine(AB)).');
  }
  if (!isSolved(found)) return declined('CannotAnswer', `${failureText(found)}${note}`);
  const lines = answerLines(found, { withProof: true });
  const theorems = `Theorems: ${[...new Set(found.applied)].join(', ') || 'none'}`;
  return answered(`Inter-GPS Solution:\n${[...lines, theorems].join('\n')}${note}`, done);
}

function verified(
  found: GeometryAnswer & { readonly choice: number | undefined },
  answer: string,
  done: { readonly ms: number },
): Outcome {
  if (!isSolved(found)) return declined('CannotAnswer', failureText(found));
  const holds = found.choice === 0;
  const lines = answerLines(found, { withProof: !holds });
  const verdict = holds ? `${answer} is right.` : `${answer} is not right.`;
  return answered(`Inter-GPS Verification:\n${verdict}\n${lines.join('\n')}`, done);
}

interface Formalized {
  readonly lines: readonly string[];
  /** The text about what was not understood, for the end of an answer. */
  readonly note: string;
}

/** The statements that were given, or those of the question and the image. */
async function statementsOf(
  given: {
    readonly text_logic?: readonly string[] | undefined;
    readonly diagram_logic?: readonly string[] | undefined;
    readonly question?: string | undefined;
    readonly image_index?: number | undefined;
  },
  context: ToolContext,
  engine: CallEngine,
): Promise<Formalized | Outcome> {
  const { text_logic, diagram_logic, question, image_index = 0 } = given;
  const lines = [...(diagram_logic ?? []), ...(text_logic ?? [])];
  const unread: string[] = [];
  if (lines.length === 0 && question === undefined) {
    return refused('MissingArgument', 'Give text_logic and diagram_logic, or question.');
  }
  if (text_logic === undefined && question !== undefined) {
    const read = readQuestion(question);
    if (read instanceof CdlError) return declined('CannotAnswer', read.message);
    lines.push(...read.statements.map(writeStatement), ...read.goals.map(writeGoal));
    unread.push(...read.unread);
    if (diagram_logic === undefined && context.images.length > 0) {
      const diagram = await readDiagram(context, image_index, engine);
      if (isDeclined(diagram)) {
        // A text may be a whole problem by itself.
        if (diagram.error?.type !== 'NothingFound') return diagram;
      } else {
        lines.unshift(...[...diagram.construction, ...diagram.marks].map(writeStatement));
        unread.push(...diagram.unread);
      }
    }
  }
  const note = unread.length === 0 ? '' : `\nNot understood: ${unread.join(' | ')}`;
  return { lines, note };
}

function readQuestion(question: string): ReturnType<typeof readProblem> | CdlError {
  try {
    return readProblem(question);
  } catch (error) {
    if (error instanceof CdlError) return error;
    throw error;
  }
}
