/** A demonstrator's hand: how a protocol's own syntax does the steps that scripts are made of. */
import { ConfigError } from '@saccade/core';
import type { Action } from '@saccade/trajectory';
import type { Box } from './tasksets/draw-needle.ts';
import { type TurnTool, turnBox } from './tasksets/turn.ts';

/** One step of a scripted trajectory before its answer, whatever the protocol. */
export type Step =
  /** Shows a box of the image as it stands after the turns so far: whole pixels of that image. */
  | { readonly kind: 'look'; readonly box: Box }
  /** Turns the image for all later looks, and shows it. */
  | { readonly kind: 'turn'; readonly tool: TurnTool }
  /** Shows every `stride`th frame of the video, `count` of them in a row of 28 by 28 pixels each. */
  | { readonly kind: 'filmStrip'; readonly stride: number; readonly count: number }
  /** Shows one frame of the video at its own size. */
  | { readonly kind: 'frame'; readonly index: number };

/** The kinds of steps. */
export type StepKind = Step['kind'];

/** Where in its trajectory a step stands. */
export interface StepPlace {
  /** Names of the prompt's images, as the protocol calls them; scripts work on the first. */
  readonly images: readonly string[];
  /** Names of the task's videos; scripts work on the first. */
  readonly videos: readonly string[];
  /** Steps before this one, in order; each of them showed one image. */
  readonly before: readonly Step[];
}

/** Texts that a turn has written once it is clear what it does. */
export interface HandSigns {
  /** To act, whatever the step. */
  readonly act: readonly string[];
  readonly answer: readonly string[];
  readonly look?: readonly string[];
  readonly turn?: readonly string[];
}

/**
 * The steps that a protocol can express. A step that is left out cannot be demonstrated in it. Every
 * action must run, and show one image: `showsImage` has the exception.
 */
export interface Hand {
  look?(step: Extract<Step, { kind: 'look' }>, place: StepPlace): Action;
  turn?(step: Extract<Step, { kind: 'turn' }>, place: StepPlace): Action;
  filmStrip?(step: Extract<Step, { kind: 'filmStrip' }>, place: StepPlace): Action;
  frame?(step: Extract<Step, { kind: 'frame' }>, place: StepPlace): Action;
  /** True where an image that is the prompt's, pixel for pixel, is not shown again. Default false. */
  readonly hidesInputs?: boolean;
  /** @param images names of the prompt's images, as the protocol calls them */
  signs(images: readonly string[]): HandSigns;
}

/** The part of a protocol that says which steps it can express. */
export interface HandOwner {
  readonly name: string;
  readonly hand?: Hand;
}

/**
 * A protocol's hand, which can do all of these steps.
 *
 * @param user what needs the steps, as an error calls it
 * @throws ConfigError naming the user, the protocol and the steps it has no words for
 */
export function handOf(
  { name, hand }: HandOwner,
  kinds: readonly StepKind[],
  user = 'A script',
): Hand {
  const missing = [...new Set(kinds)].filter((kind) => hand?.[kind] === undefined);
  if (hand !== undefined && missing.length === 0) return hand;
  const steps = missing.length === 0 ? 'any step' : missing.join(', ');
  throw new ConfigError(
    'protocol',
    `protocol: ${user} demonstrates ${kinds.join(', ') || 'answers'}, and the protocol ${name} ` +
      `has no words for ${steps}. Choose another protocol or another cold start.`,
  );
}

/** The action that does a step in a protocol. @throws ConfigError if the protocol cannot express it */
export function stepAction(protocol: HandOwner, step: Step, place: StepPlace): Action {
  const hand = handOf(protocol, [step.kind]);
  const act = hand[step.kind] as (step: Step, place: StepPlace) => Action;
  return act(step, place);
}

/** Index, among the trajectory's images, of the one that later looks see: the last turned one. */
export function currentImage({ images, before }: StepPlace): number {
  const last = before.findLastIndex(({ kind }) => kind === 'turn');
  return last < 0 ? 0 : images.length + last;
}

/** Whether a step shows an image: one that turns the image back shows an input once more. */
export function showsImage({ hidesInputs = false }: Hand, step: Step, place: StepPlace): boolean {
  if (!hidesInputs || step.kind !== 'turn') return true;
  const box: Box = [1, 2, 4, 8];
  const tools = [...place.before, step].flatMap((one) => (one.kind === 'turn' ? [one.tool] : []));
  const turned = tools.reduce((now, tool) => turnBox(tool, 100, now), box);
  return turned.join() !== box.join();
}

/** Pillow's method for a turn, of an image of any shape. */
export function pillowTurn(tool: TurnTool): string {
  if (tool === 'flip_horizontal') return 'transpose(Image.FLIP_LEFT_RIGHT)';
  if (tool === 'flip_vertical') return 'transpose(Image.FLIP_TOP_BOTTOM)';
  return `rotate(${tool.slice('rotate_'.length)}, expand=True)`;
}
