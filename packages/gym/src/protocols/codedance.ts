/**
 * CodeDance (arXiv:2512.17312, §7.2, Table 10): thoughts in `<think>`, code in `<code>`, answers in
 * `<answer>`; what code gives comes back as a `<tool_response>`. Turns end by themselves.
 */
import { DataError } from '@saccade/core';
import { choice, count, quantity } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import type { Action } from '@saccade/trajectory';
import type { CodeRuntime } from '../code-runtime.ts';
import { defineProtocol } from '../define-protocol.ts';
import { type Hand, pillowTurn } from '../hand.ts';
import type { MessagePart, ObservationPlace, Protocol } from '../protocol.ts';
import type { Task } from '../task.ts';
import { callTexts, readHermesCall } from './calls.ts';
import { filtersOf, type ImageFilters, imageFilters } from './image-filters.ts';
import {
  allBetween,
  fenced,
  firstFence,
  joinTexts,
  lastBetween,
  tagEscaper,
  textPart,
} from './markup.ts';

/**
 * Options of `codedanceWith`: where the paper and the public code differ, and the length of the
 * prompt.
 */
export interface CodedanceOptions extends ImageFilters {
  /** `full` teaches the whole protocol; `short` is for policies trained on it that read little. */
  readonly prompt: 'full' | 'short';
  /**
   * The fence that is read as code. The public code takes the first one, wherever it is; `tagged`
   * takes the first one inside `<code>`, which is where the prompt asks for it.
   */
  readonly code: 'first' | 'tagged';
  /**
   * How variables are handled after a failure: `rollBack` restores them to the last success, as in
   * the paper (§6.2); `reset` drops them all, as in its code.
   */
  readonly afterFailure: CodeRuntime['afterFailure'];
  /** Resolution at which figures are drawn, and the shortest side of one that is shown, in pixels. */
  readonly figureDpi: number;
  readonly leastFigureSide: number;
}

/** The tool that the public code's other form of a call names. */
const TOOL = 'execute_python_code';

const tags = ['think', 'code', 'answer', 'tool_call', 'tool_response'];
const escaped = tagEscaper(tags);

/**
 * CodeDance's protocol with the given options, under a name of its own. The units of the catalog,
 * `codedance` and its variants, are calls of it.
 */
export function codedanceWith(name: string, options: CodedanceOptions): Protocol {
  return {
    name,
    paper: 'CodeDance, arXiv:2512.17312, §7.2, Table 10',
    stop: [],
    tags,
    // Six assistant turns in the training scripts, ten in the paper's evaluation; the last answers.
    budgets: { toolTurns: 5, images: Number.POSITIVE_INFINITY },
    evaluationBudgets: { toolTurns: 9, images: Number.POSITIVE_INFINITY },
    // Section 6.2.
    executionSeconds: 15,
    runsBeyondBudget: false,
    runtime: runtimeWith(options),
    prompt: (task) => (options.prompt === 'full' ? fullPrompt(task) : shortPrompt(task)),
    parse: (text) => parse(text, options.code),
    write,
    hand,
    observe,
    endsOn: () => undefined,
  };
}

/** Prompt images are variables and files: `input_image`, then `input_image_1`, … */
function promptImages(task: Task): readonly (MessagePart & { kind: 'image' })[] {
  return task.images.map((image, i) => {
    return { kind: 'image', ...image, name: i === 0 ? 'input_image' : `input_image_${i}` };
  });
}

function shortPrompt(task: Task): { user: readonly MessagePart[] } {
  return { user: [...promptImages(task), textPart(`\n${task.question}`)] };
}

/** Our wording, in the order of Table 10; variable and file from the code's system prompt. */
function fullPrompt(task: Task): { system: string; user: readonly MessagePart[] } {
  const shown = promptImages(task);
  const names = shown.map(({ name }) => `\`${name}\` (file \`${name}.jpg\`)`).join(', ');
  const system = `You answer questions about pictures. You can write Python to inspect them; it is run for you, and variables stay from one run to the next.
The picture is at hand as a PIL image and as a file: ${names}.`;
  const text = `
Question: ${task.question}

Think step by step inside <think></think>. Where it helps you reason, write Python code; each piece is a complete script with its imports, in this form:
<code>
\`\`\`python
# your code
\`\`\`
</code>
Give the final answer inside <answer></answer>.`;
  return { system, user: [...shown, textPart(text)] };
}

/**
 * A tool call in Hermes' form comes first, then the first fenced block, then the last answer; code
 * goes before an answer in the same turn, as the public loop looks for calls alone.
 */
function parse(text: string, which: CodedanceOptions['code']): Action {
  for (const json of callTexts(text)) {
    const call = readHermesCall(json);
    if (call === undefined) continue;
    const { code } = call.arguments;
    if (call.name === TOOL && typeof code === 'string') return { kind: 'code', code };
    return { kind: 'toolCall', ...call };
  }
  const places = which === 'tagged' ? allBetween(text, '<code>', '</code>') : [text];
  const code = places.map(firstFence).find((fence) => fence !== undefined);
  if (code !== undefined) return { kind: 'code', code };
  const answer = lastBetween(text, '<answer>', '</answer>');
  if (answer !== undefined) return { kind: 'answer', answer: answer.trim() };
  return { kind: 'invalid', reason: 'noCodeNorAnswer' };
}

function write(action: Action, thought = ''): string {
  const before = `<think>${thought}</think>\n`;
  if (action.kind === 'code') return `${before}<code>\n${fenced(action.code)}\n</code>`;
  if (action.kind === 'answer') return `${before}<answer>${action.answer}</answer>`;
  throw new DataError(`CodeDance has no words for ${action.kind}. Give it code or an answer.`);
}

/** On the first image, which is a variable that a turn replaces; the last expression is shown. */
const hand: Hand = {
  look: ({ box }, { images: [name] }) => {
    return { kind: 'code', code: `${name}.crop((${box.join(', ')}))` };
  },
  turn({ tool }, { images: [name] }) {
    const turned = `${name} = ${name}.${pillowTurn(tool)}\n${name}`;
    return { kind: 'code', code: `from PIL import Image\n${turned}` };
  },
  signs: ([name]) => ({
    act: ['<code>'],
    answer: ['<answer>'],
    look: [`${name}.crop`],
    turn: [`${name} = ${name}.`],
  }),
};

/** Asks for what the published text after every result asks for, in our words. */
const goOn =
  '\nThink about this result. If it answers the question, answer; if it does not, try something else with new code.';
const lastTurn = '\nNo more code can be run. Answer now.';

function observe(
  outcome: Outcome,
  { imageIndex, callsLeft }: ObservationPlace,
): readonly MessagePart[] {
  const parts: MessagePart[] = [textPart('<tool_response>\n')];
  const [stdout, stderr] = [outcome.stdout, outcome.stderr].map((text) => escaped(text.trim()));
  if (outcome.kind === 'ok') {
    parts.push(textPart('Code execution successful, output:\n'));
    if (stdout !== '') parts.push(textPart(`${stdout}\n`));
    if (stderr !== '') parts.push(textPart(`Stderr output:\n${stderr}\n`));
  } else {
    const { type = outcome.kind, message = '', traceback = '' } = outcome.error ?? {};
    if (stdout !== '') parts.push(textPart(`Output before error:\n${stdout}\n`));
    // The sandbox calls the code's file as the tag is called.
    const trace = escaped((traceback.trim() || message).replaceAll('"<code>"', '"<string>"'));
    parts.push(textPart(`--- Execution Error (${escaped(type)}) ---\n${trace}\n`));
    if (stderr !== '') parts.push(textPart(`Stderr output:\n${stderr}\n`));
  }
  if (outcome.images.length > 0) parts.push(textPart('Output image:\n'));
  outcome.images.forEach(({ png, width, height, origin }, i) => {
    const name = `output_image_${imageIndex + i}`;
    parts.push({ kind: 'image', name, png, width, height, ...(origin && { origin }) });
  });
  parts.push(textPart(`${callsLeft > 0 ? goOn : lastTurn}\n</tool_response>`));
  return joinTexts(parts);
}

/**
 * §6.2 and the code's `code_tool.py`: one namespace for a trajectory, the image as variable and
 * file. The paper captures matplotlib's and PIL's images. The code also shows the last expression
 * (PIL images; arrays as OpenCV has them, BGR, floats in 0 to 1; all else is printed), draws
 * figures tight and leaves small ones out, drops images of an extreme aspect and enlarges small
 * ones; its numbers are the defaults of the settings below. Where it prints a figure that is the
 * last value, this one shows it, and arrays that no image can be made of are printed instead of
 * lost.
 */
function runtimeWith(options: CodedanceOptions): CodeRuntime {
  const { afterFailure, figureDpi, leastFigureSide } = options;
  const images = filtersOf(options);
  return {
    keepsVariables: true,
    afterFailure,
    setUp: (names) =>
      names.map((name) => `${name}.convert("RGB").save("${name}.jpg", quality=95)`).join('\n'),
    capture: () => ({
      lastExpression: true,
      arrayChannels: 'BGR',
      figures: { dpi: figureDpi, isTight: true, leastSide: leastFigureSide },
      images,
    }),
  };
}

/** The published protocol: the paper's failures, and its code's way to find code. */
export const codedance = defineProtocol({
  name: 'codedance',
  description:
    'CodeDance: thoughts, code and answers in tags; variables roll back after a failure.',
  settings: {
    prompt: choice(['full', 'short'], {
      default: 'full',
      about: 'Whether the prompt teaches the protocol, or only asks, for very small policies.',
    }),
    code: choice(['first', 'tagged'], {
      default: 'first',
      about: 'Which fence is code: the first anywhere, as in the public code, or inside <code>.',
    }),
    afterFailure: choice(['rollBack', 'reset', 'keep'], {
      default: 'rollBack',
      about: 'Variables after failed code: as after the last success, as in the paper; none; all.',
    }),
    figureDpi: quantity({
      min: 10,
      max: 1200,
      default: 150,
      unit: 'dots per inch',
      about: 'Resolution at which figures are drawn.',
    }),
    leastFigureSide: count({
      min: 1,
      max: 4096,
      default: 28,
      unit: 'pixels',
      about: 'Figures with a shorter side are left out.',
    }),
    ...imageFilters({ maxAspect: 200, smallSide: 56, enlargeTo: 112 }),
  },
  create: (settings) => codedanceWith('codedance', settings),
});
