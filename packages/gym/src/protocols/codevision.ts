/**
 * CodeVision (arXiv:2512.03746, §3.1): one tool that takes code, called in Hermes' form. Every call
 * starts anew on an image that is named by its index; its result is the next image.
 */
import { DataError } from '@saccade/core';
import { choice } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import { codeImageTool } from '@saccade/tools';
import type { Action } from '@saccade/trajectory';
import { defineProtocol } from '../define-protocol.ts';
import { currentImage, type Hand, pillowTurn, type StepPlace } from '../hand.ts';
import type { MessagePart, ObservationPlace, Protocol } from '../protocol.ts';
import type { Task } from '../task.ts';
import { callClose, callOpen, callTexts, readHermesCall } from './calls.ts';
import { joinTexts, lastBetween, tagEscaper, textPart } from './markup.ts';

const tags = ['think', 'answer', 'tool_call', 'tool_calls', 'tool_response', 'tools'];
const escaped = tagEscaper(tags);

function promptImages(task: Task): readonly MessagePart[] {
  return task.images.map((image, i) => ({ kind: 'image', ...image, name: `image_${i}` }));
}

function shortPrompt(task: Task): { user: readonly MessagePart[] } {
  return { user: [...promptImages(task), textPart(`\n${task.question}`)] };
}

/** Our wording, in the order of the code's system prompt; tools as Qwen's template shows them. */
function fullPrompt(task: Task): { system: string; user: readonly MessagePart[] } {
  const { name, description, parameters } = codeImageTool;
  const signature = { type: 'function', function: { name, description, parameters } };
  const system = `You solve questions about pictures, step by step. Put your thoughts into <think></think>. After them either call the tool, in <tool_call></tool_call>, or give the final answer, in <answer></answer>.
- Work in a chain: think, check what you see, try again where it does not fit, then answer.
- If a picture is turned or mirrored, put it right before anything else.
- Check what you read against another look.
- Do not wait to be told: use the tool wherever it makes you more certain.

# Tools

You may call one function in a turn. Its signature stands between <tools></tools>:
<tools>
${JSON.stringify(signature)}
</tools>

A call is a JSON object with the function's name and its arguments:
<tool_call>
{"name": "${name}", "arguments": {"code": "...", "description": "...", "image_index": 0}}
</tool_call>`;
  return { system, user: [...promptImages(task), textPart(task.question)] };
}

/** The first call that can be read; without one, the last answer. */
function parse(text: string): Action {
  const texts = callTexts(text);
  for (const json of texts) {
    const call = readHermesCall(json);
    if (call !== undefined) return { kind: 'toolCall', ...call };
  }
  const answer = lastBetween(text, '<answer>', '</answer>');
  if (answer !== undefined) return { kind: 'answer', answer: answer.trim() };
  return { kind: 'invalid', reason: texts.length > 0 ? 'malformedCall' : 'noCallNorAnswer' };
}

function write(action: Action, thought = ''): string {
  const before = `<think>${thought}</think>\n`;
  if (action.kind === 'toolCall') {
    const call = JSON.stringify({ name: action.name, arguments: action.arguments });
    return `${before}${callOpen}\n${call}\n${callClose}`;
  }
  if (action.kind === 'answer') return `${before}<answer>${action.answer}</answer>`;
  throw new DataError(`CodeVision has no words for ${action.kind}. Give it a call or an answer.`);
}

/** Calls the tool on the image that the last turn made; nothing else stays from call to call. */
const hand: Hand = {
  look: ({ box }, place) => call('crop', `image.crop((${box.join(', ')}))`, place),
  turn: ({ tool }, place) => call('turn', `image.${pillowTurn(tool)}`, place),
  signs: () => {
    return { act: [callOpen], answer: ['<answer>'], look: ['"crop"'], turn: ['"turn"'] };
  },
};

function call(description: string, made: string, place: StepPlace): Action {
  const given = { description, image_index: currentImage(place), code: `result = ${made}` };
  return { kind: 'toolCall', name: codeImageTool.name, arguments: given };
}

/** The public reminder writes <tool_calls>, which nothing reads; this one writes the tag. */
const reminder =
  'Go on in the same form: <think></think>, then <tool_call></tool_call> or <answer></answer>.';

/** The image first, then what it is. */
function observe(outcome: Outcome, { imageIndex }: ObservationPlace): readonly MessagePart[] {
  const parts: MessagePart[] = [textPart('<tool_response>\n')];
  const { images, error, kind } = outcome;
  images.forEach(({ png, width, height, origin }, i) => {
    const name = `image_${imageIndex + i}`;
    parts.push({ kind: 'image', name, png, width, height, ...(origin && { origin }) });
    parts.push(textPart(`\nThe processed picture; its image_index is ${imageIndex + i}.\n`));
  });
  if (kind !== 'ok') {
    const { type = kind, message = '' } = error ?? {};
    parts.push(textPart(`${escaped(`Error: ${type}: ${message}`)}\n`));
  }
  parts.push(textPart(`${reminder}\n</tool_response>`));
  return joinTexts(parts);
}

/** The published protocol. A turn without a call that can be read ends it, as in the code. */
const published: Protocol = {
  name: 'codevision',
  paper: 'CodeVision, arXiv:2512.03746, §3.1 and its code (`recipe/codevision`)',
  stop: [],
  tags,
  // max_turns 12 in the training script; the last of them answers.
  budgets: { toolTurns: 11, images: Number.POSITIVE_INFINITY },
  runsBeyondBudget: false,
  tools: [codeImageTool],
  // Its tool gives images alone: what code prints is lost.
  showsOutput: false,
  prompt: fullPrompt,
  parse,
  write,
  hand,
  observe,
  endsOn: () => undefined,
};

/**
 * CodeVision's protocol as a unit for the slot `protocol`. Each call runs on one image, chosen by
 * `image_index`, in a session of its own; its result becomes the next image.
 */
export const codevision = defineProtocol({
  name: 'codevision',
  description: 'CodeVision: one tool that takes code; its result is the next image.',
  settings: {
    prompt: choice(['full', 'short'], {
      default: 'full',
      about: 'Whether the prompt teaches the protocol, or only asks, for very small policies.',
    }),
  },
  create: ({ prompt }) => (prompt === 'full' ? published : { ...published, prompt: shortPrompt }),
});
