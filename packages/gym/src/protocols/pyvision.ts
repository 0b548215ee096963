/** The parts that PyVision-RL on images and on videos share: parsing, observations, failures. */
import { DataError } from '@saccade/core';
import { choice } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import type { Action, StopReason } from '@saccade/trajectory';
import type { Hand } from '../hand.ts';
import type { MessagePart, ObservationPlace } from '../protocol.ts';
import type { TurnTool } from '../tasksets/turn.ts';
import { fenced, joinTexts, lastBetween, lastFence, tagEscaper } from './markup.ts';

/** Whether a trajectory ends when its code fails. */
export const onErrorField = choice(['end', 'continue'], {
  default: 'end',
  about: 'Whether failed code ends the trajectory, as in the paper, or its error is shown.',
});

export const pyvisionTags: readonly string[] = [
  'code',
  'answer',
  'interpreter',
  'tool_response',
  'image_clue_\\d+',
];

const escaped = tagEscaper(pyvisionTags);

/** An image between tags of its name. */
export function clue(name: string, image: MessagePart): readonly MessagePart[] {
  return [{ kind: 'text', text: `<${name}>` }, image, { kind: 'text', text: `</${name}>` }];
}

/**
 * An answer comes first; then the last fenced block inside `<code>`; then the last bare fence. The
 * order is that of the public code; the paper does not say.
 */
export function parsePyvision(text: string): Action {
  const answer = lastBetween(text, '<answer>', '</answer>');
  if (answer !== undefined) return { kind: 'answer', answer: answer.trim() };
  // The last opening tag, so that an unclosed block before it does not swallow the fences between.
  const tag = text.lastIndexOf('<code>');
  const closed = text.indexOf('</code>', tag);
  const tagged = tag < 0 || closed < 0 ? undefined : lastFence(text.slice(tag + 6, closed));
  const code = tagged ?? lastFence(text);
  if (code !== undefined) return { kind: 'code', code };
  return { kind: 'invalid', reason: 'noCodeNorAnswer' };
}

export function writePyvision(action: Action, thought = ''): string {
  const before = thought === '' ? '' : `${thought}\n`;
  if (action.kind === 'code') return `${before}<code>\n${fenced(action.code)}\n</code>`;
  if (action.kind === 'answer') {
    return `${before}<answer>\n\\boxed{${action.answer}}\n</answer>`;
  }
  throw new DataError(`PyVision has no words for ${action.kind}. Give it code or an answer.`);
}

/** Written for square images, where a quarter turn keeps the frame. */
const turns: Readonly<Record<TurnTool, string>> = {
  rotate_90: 'rotate(90)',
  rotate_180: 'rotate(180)',
  rotate_270: 'rotate(270)',
  flip_horizontal: 'transpose(Image.FLIP_LEFT_RIGHT)',
  flip_vertical: 'transpose(Image.FLIP_TOP_BOTTOM)',
};

const code = (text: string): Action => ({ kind: 'code', code: text });

/** On the first image, which is a variable that a turn replaces. */
export const pyvisionImageHand: Hand = {
  look: ({ box }, { images: [name] }) => code(`${name}.crop((${box.join(',')})).show()`),
  turn: ({ tool }, { images: [name] }) => code(`${name} = ${name}.${turns[tool]}\n${name}.show()`),
  signs: ([name]) => ({
    act: ['<code>'],
    answer: ['<answer>'],
    look: [`${name}.crop`],
    turn: [`${name} = ${name}.`],
  }),
};

/** On the first video, whose reader is a variable. */
export const pyvisionVideoHand: Hand = {
  filmStrip({ stride, count }, { videos: [name] }) {
    const frames = `np.hstack(${name}[::${stride}])`;
    // 0 is the nearest neighbor: pixels are doubled as they are.
    return code(`Image.fromarray(${frames}).reduce(4).resize((${28 * count}, 28), 0).show()`);
  },
  frame: ({ index }, { videos: [name] }) => code(`Image.fromarray(${name}[${index}]).show()`),
  signs: () => ({ act: ['<code>'], answer: ['<answer>'] }),
};

export function observePyvision(
  outcome: Outcome,
  { imageIndex }: ObservationPlace,
): readonly MessagePart[] {
  const parts: MessagePart[] = [{ kind: 'text', text: '<tool_response>\n<interpreter>' }];
  const printed = escaped(outcome.stdout.trim());
  if (printed !== '') parts.push({ kind: 'text', text: `Text Result:\n${printed}\n` });
  if (outcome.error !== undefined) {
    const { type, message } = outcome.error;
    parts.push({ kind: 'text', text: `Error:\n${escaped(`${type}: ${message}`)}\n` });
  } else if (outcome.kind !== 'ok') {
    parts.push({ kind: 'text', text: `Error:\nThe execution ended with: ${outcome.kind}.\n` });
  }
  if (outcome.images.length > 0) parts.push({ kind: 'text', text: 'Image Result:\n' });
  outcome.images.forEach((image, i) => {
    const name = `image_clue_${imageIndex + i}`;
    const { png, width, height, origin } = image;
    parts.push(
      ...clue(name, { kind: 'image', name, png, width, height, ...(origin && { origin }) }),
    );
  });
  parts.push({ kind: 'text', text: '</interpreter>\n\n</tool_response>' });
  return joinTexts(parts);
}

/** A failed run ends the trajectory; so does one that gives nothing to read or look at. */
export function pyvisionEndsOn(
  outcome: Outcome,
  onError: 'end' | 'continue',
): StopReason | undefined {
  if (onError === 'continue') return undefined;
  const isEmpty = outcome.stdout.trim() === '' && outcome.images.length === 0;
  return outcome.kind !== 'ok' || isEmpty ? 'toolError' : undefined;
}
