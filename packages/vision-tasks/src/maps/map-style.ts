/** How maps look: sizes by difficulty, and colors of which none is in both splits. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { type Typeface, typeface, typefacesOf } from '../rendering/typefaces.ts';

/** Everything that a map's look depends on besides what it shows. */
export interface MapStyle {
  readonly width: number;
  readonly height: number;
  readonly regular: Typeface;
  readonly bold: Typeface;
  /** Font size of titles and legend in pixels. */
  readonly size: number;
  /** Font size of the names of regions. */
  readonly small: number;
  readonly background: string;
  readonly border: string;
  /** Color on both sides of a border. */
  readonly seam: string;
  readonly missing: string;
  /** Red, green and blue of the lowest and the highest class. */
  readonly ramp: readonly [Color, Color];
}

type Color = readonly [number, number, number];

/** Width, height, font size and font size of names by difficulty: names get smaller. */
const sizes = [
  [640, 480, 14, 12],
  [832, 640, 14, 10],
  [1024, 800, 14, 9],
] as const;

const ramps: Readonly<Record<Split, readonly (readonly [Color, Color])[]>> = {
  train: [
    [
      [230, 241, 252],
      [10, 54, 118],
    ],
    [
      [232, 246, 226],
      [8, 78, 38],
    ],
    [
      [255, 248, 196],
      [20, 68, 112],
    ],
  ],
  heldOut: [
    [
      [255, 238, 212],
      [132, 28, 10],
    ],
    [
      [242, 234, 250],
      [66, 16, 112],
    ],
  ],
};

/** Draws a style of a split. */
export function mapStyle(split: Split, level: number, random: Random): MapStyle {
  const [width, height, size, small] = sizes[level - 1] ?? sizes[0];
  const name = random.pick(typefacesOf[split]);
  const isTrain = split === 'train';
  return {
    width,
    height,
    regular: typeface(name, 400),
    bold: typeface(name, 700),
    size,
    small,
    background: isTrain ? '#ffffff' : '#f4f1ea',
    border: isTrain ? '#333333' : '#3d2c20',
    seam: isTrain ? '#ffffff' : '#f4f1ea',
    missing: isTrain ? '#c4c4c4' : '#b5b5b5',
    ramp: random.pick(ramps[split]),
  };
}

/** The color of a class, counted from 0 for the lowest. */
export function shade([low, high]: MapStyle['ramp'], index: number, classes: number): string {
  const share = index / (classes - 1);
  const [red = 0, green = 0, blue = 0] = low.map((from, channel) =>
    Math.round(from + ((high[channel] ?? from) - from) * share),
  );
  return `rgb(${red},${green},${blue})`;
}
