/**
 * CodeV (arXiv:2511.19661, §4.2 and Template 13.1): code between `<code>` tags saves images to
 * files and prints their names; what it printed and saved comes back as `<sandbox_output>`.
 */
import { DataError } from '@saccade/core';
import { choice } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import type { Action } from '@saccade/trajectory';
import type { CodeRuntime } from '../code-runtime.ts';
import { defineProtocol } from '../define-protocol.ts';
import { type Hand, pillowTurn, type StepPlace } from '../hand.ts';
import type { MessagePart, ObservationPlace, Protocol } from '../protocol.ts';
import type { Task } from '../task.ts';
import { allBetween, fenced, joinTexts, lastBetween, tagEscaper, textPart } from './markup.ts';

/** Options of `codevWith`. */
export interface CodevOptions {
  /** The paper (§12) keeps variables from run to run; its code starts every run anew. */
  readonly variables: 'kept' | 'fresh';
}

const tags = ['think', 'code', 'answer', 'sandbox_output'];
const escaped = tagEscaper(tags);

/**
 * CodeV's protocol with the given options, under a name of its own. Code runs 10 s at most, images
 * are saved as files, and nine tool turns are allowed.
 */
export function codevWith(name: string, options: CodevOptions): Protocol {
  return {
    name,
    paper: 'CodeV, arXiv:2511.19661, §4.2, §12, Template 13.1',
    stop: ['</code>'],
    tags,
    // max_turns 10 in the training script, the last of which answers.
    budgets: { toolTurns: 9, images: Number.POSITIVE_INFINITY },
    // Section 12; its code adds five seconds for saving images.
    executionSeconds: 10,
    runsBeyondBudget: true,
    runtime: runtimeWith(options.variables === 'kept'),
    prompt,
    parse,
    write,
    hand: handWith(options.variables === 'kept'),
    observe,
    // Neither code nor an answer: nothing comes back, and the conversation goes on.
    observeInvalid: () => [],
    endsOn: () => undefined,
  };
}

const fileOf = (name: string): string => `${name}.png`;

/** Our wording, in the order of Template 13.1. */
function prompt(task: Task): { system: string; user: readonly MessagePart[] } {
  const system = `You are a helpful assistant.

Goal:
- Answer the user's question about the picture.
- You may write Python code to look at the picture more closely, or to calculate, before you answer.
Rules for Python:
- A sandbox outside of you runs it. What it gives comes back as <sandbox_output>...</sandbox_output>.
- Read that output, then answer or run another piece of code.
- For pictures: load the file, work on it (crop, resize, turn, contrast), save the result and print the name of its file.
- For calculations: define every variable and print the result.
- Code stands in this block:
<code>
\`\`\`python
# your code
\`\`\`
</code>`;
  const facts = task.images
    .map(
      ({ name, width, height }) =>
        `### User Image Path: "${fileOf(name)}"\n### User Image Size: "${width}x${height}"\n`,
    )
    .join('');
  const text = `
Question: ${task.question}
${facts}### Output Format (keep to it):
<think>Your reasoning, with <code></code> where you run some.</think>
<answer>Your answer.</answer>`;
  const shown = task.images.map((image) => ({ kind: 'image' as const, ...image }));
  return { system, user: [...shown, textPart(text)] };
}

/** An answer ends it, wherever it stands; else all pieces of code together, as one script. */
function parse(text: string): Action {
  const answer = lastBetween(text, '<answer>', '</answer>');
  if (answer !== undefined) return { kind: 'answer', answer: answer.trim() };
  const pieces = allBetween(text, '<code>', '</code>');
  if (pieces.length === 0) return { kind: 'invalid', reason: 'noCodeNorAnswer' };
  const code = pieces.map((piece) => piece.replaceAll('```python', '').replaceAll('```', ''));
  return { kind: 'code', code: code.map((piece) => piece.trim()).join('\n') };
}

function write(action: Action, thought = ''): string {
  const before = `<think>${thought}</think>\n`;
  if (action.kind === 'code') return `${before}<code>\n${fenced(action.code)}\n</code>`;
  if (action.kind === 'answer') return `${before}<answer>${action.answer}</answer>`;
  throw new DataError(`CodeV has no words for ${action.kind}. Give it code or an answer.`);
}

/** Opens the image's file, saves what is to be seen under a new name, and prints that name. */
function handWith(keepsFiles: boolean): Hand {
  const script = (open: string, change: string, file: string): Action => {
    const code = `from PIL import Image
image = ${open}
image.${change}.save("${file}")
print("${file}")`;
    return { kind: 'code', code };
  };
  const turnFile = (index: number): string => `turned_${index + 1}.png`;
  /** The image as the turns so far left it: their last file, or all of them again without files. */
  const opened = ({ images: [name = ''], before }: StepPlace): string => {
    const turns = before.flatMap((step, index) => (step.kind === 'turn' ? [{ step, index }] : []));
    const last = turns.at(-1);
    if (last !== undefined && keepsFiles) return `Image.open("${turnFile(last.index)}")`;
    const again = turns.map(({ step }) => `.${pillowTurn(step.tool)}`).join('');
    return `Image.open("${fileOf(name)}")${again}`;
  };
  return {
    look: ({ box }, place) =>
      script(opened(place), `crop((${box.join(', ')}))`, `crop_${place.before.length + 1}.png`),
    turn: ({ tool }, place) =>
      script(opened(place), pillowTurn(tool), turnFile(place.before.length)),
    hidesInputs: true,
    signs: () => ({
      act: ['<code>'],
      answer: ['<answer>'],
      look: ['\nimage.crop'],
      turn: ['\nimage.rotate', '\nimage.transpose'],
    }),
  };
}

const thinkOn =
  'Look at this output. Then answer with <answer></answer>, or run more code with <code></code>.';

function observe(outcome: Outcome, { imageIndex }: ObservationPlace): readonly MessagePart[] {
  if (outcome.kind !== 'ok') {
    const text = `<sandbox_output>${escaped(errorText(outcome))}</sandbox_output>`;
    return [textPart(text)];
  }
  const { images, stdout: printed } = outcome;
  if (images.length === 0 && printed.trim() === '') {
    const text =
      'Nothing was printed. Print values to see them; save a picture and print the name of its file.';
    return [textPart(`<sandbox_output>${text}</sandbox_output>`)];
  }
  const parts: MessagePart[] = [textPart('<sandbox_output>')];
  if (printed.trim() !== '') parts.push(textPart(`${escaped(printed.trim())}\n`));
  images.forEach(({ png, width, height, origin }, i) => {
    const name = `sandbox_image_${imageIndex + i}`;
    parts.push({ kind: 'image', name, png, width, height, ...(origin && { origin }) });
  });
  parts.push(textPart(`</sandbox_output>${thinkOn}`));
  return joinTexts(parts);
}

/** The last line of the traceback and no more, with what to do about it. */
function errorText({ kind, error }: Outcome): string {
  if (kind === 'timeout')
    return 'Error: the code ran too long and was stopped. Do less in one run.';
  const { type = kind, message = '' } = error ?? {};
  if (type === 'FileNotFoundError') {
    return 'FileNotFoundError: load the picture from the path that the user gives, by its file name alone.';
  }
  return `Error: ${type}: ${message}. Repair the code, then answer.`;
}

/**
 * §12 of the paper: the image as a file, paths made plain, new files of the workspace returned. The
 * code (`python_interpreter.py`) returns files whose names are printed, after what `Image.show`
 * shows, five images at most; it drops those of an aspect above 100, enlarges those with a side
 * below 28 to 28, and takes lines that are only a file's name from the output. Here a name stays if
 * its image could not be shown, and the prompt's images are not shown again.
 */
function runtimeWith(keepsVariables: boolean): CodeRuntime {
  return {
    keepsVariables,
    afterFailure: 'keep',
    setUp: (names) =>
      names.map((name) => `${name}.save("${fileOf(name)}", compress_level=1)`).join('\n'),
    // A path that was made up becomes the file's name: "/mnt/data/12.jpg" is "12.jpg".
    rewrite: (code) =>
      code.replace(/(["'])[^"'\n]*\/([^"'/\n]+\.(?:png|jpe?g|webp|bmp))\1/gi, '$1$2$1'),
    capture: (names) => ({
      printedFiles: true,
      hidesNames: true,
      exceptFiles: names.map(fileOf),
      images: { most: 5, mostAspect: 100, smallSides: { below: 28, enlargeTo: 28 } },
    }),
  };
}

/** The published protocol. */
export const codev = defineProtocol({
  name: 'codev',
  description: 'CodeV: code saves images to files and prints their names.',
  settings: {
    variables: choice(['kept', 'fresh'], {
      default: 'kept',
      about: 'Whether variables stay between executions, as in the paper, or not, as in its code.',
    }),
  },
  create: (settings) => codevWith('codev', settings),
});
