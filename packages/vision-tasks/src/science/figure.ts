/** The common form of all kinds of scientific figures, and how figures look. */
import type { Random } from '@saccade/core';
import type { Box, Split } from '@saccade/gym';
import type { Drawing } from '../rendering/drawing.ts';
import { type Typeface, typeface, typefacesOf } from '../rendering/typefaces.ts';
import type { Difficulty } from '../task-sets/difficulty.ts';

/** How the answer follows from what the figure shows; each kind of figure documents its own. */
export interface ScienceProgram {
  readonly operation: string;
  /** Names of what decides the answer, in the order of the evidence. */
  readonly of: readonly string[];
  /** Numbers that the operation takes. */
  readonly numbers: readonly number[];
}

/** A drawn figure with a question. */
interface ScienceFigure {
  readonly drawing: Drawing;
  readonly question: string;
  readonly answer: string;
  readonly program: ScienceProgram;
  /** The evidence that decides the answer; pixels. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
  /** Largest relative error of a right answer. */
  readonly tolerance: number;
  /** Where its facts come from. */
  readonly source: string;
}

/** Draws a figure with a question; undefined where the drawn one is not clear. */
export type MakeFigure = (
  split: Split,
  difficulty: Difficulty,
  style: ScienceStyle,
  random: Random,
) => ScienceFigure | undefined;

/** Everything that a figure's look depends on besides what it shows. */
export interface ScienceStyle {
  readonly width: number;
  readonly height: number;
  readonly regular: Typeface;
  readonly bold: Typeface;
  /** Font size in pixels. */
  readonly size: number;
  readonly background: string;
  readonly ink: string;
  readonly fill: string;
  readonly accent: string;
}

/** Width, height and font size by difficulty: text gets smaller in the overview. */
const sizes = [
  [560, 420, 16],
  [768, 576, 14],
  [1024, 768, 13],
] as const;

const looks: Readonly<Record<Split, readonly (readonly [string, string, string, string])[]>> = {
  train: [
    ['#ffffff', '#202020', '#e3eefb', '#c0392b'],
    ['#fbfbf4', '#1f2d3d', '#e9f3df', '#2471a3'],
  ],
  heldOut: [
    ['#f2f6f5', '#2b1d3a', '#f6e3c8', '#7d3c98'],
    ['#fff8f0', '#3b2a1a', '#dfe6f4', '#117a65'],
  ],
};

/** Draws a style of a split. */
export function scienceStyle(split: Split, difficulty: Difficulty, random: Random): ScienceStyle {
  const [width, height, size] = sizes[difficulty - 1] ?? sizes[0];
  const name = random.pick(typefacesOf[split]);
  const [background, ink, fill, accent] = random.pick(looks[split]);
  const faces = { regular: typeface(name, 400), bold: typeface(name, 700) };
  return { width, height, ...faces, size, background, ink, fill, accent };
}
