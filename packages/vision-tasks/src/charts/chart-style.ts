/** How charts look: sizes by difficulty, and styles of which none is in both splits. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { type Typeface, typeface, typefacesOf } from '../rendering/typefaces.ts';

/** Everything that a chart's look depends on besides its numbers. */
export interface ChartStyle {
  readonly width: number;
  readonly height: number;
  readonly regular: Typeface;
  readonly bold: Typeface;
  /** Font size of labels in pixels. */
  readonly size: number;
  readonly background: string;
  readonly ink: string;
  readonly grid: string;
  /** SVG dash pattern of grid lines. */
  readonly dashes: string;
  readonly palette: readonly string[];
  /** Where the legend is. */
  readonly legend: 'right' | 'top';
}

/** Width, height and font size by difficulty 1 to 4: text gets smaller in the overview. */
const sizes = [
  [640, 480, 15],
  [800, 600, 15],
  [1120, 800, 16],
  [1600, 1120, 17],
] as const;

const palettes: Readonly<Record<Split, readonly (readonly string[])[]>> = {
  train: [
    ['#4c78a8', '#f58518', '#54a24b', '#e45756', '#72b7b2', '#b279a2', '#eeca3b', '#9d755d'],
    ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f'],
  ],
  heldOut: [
    ['#0b6e4f', '#f2c14e', '#9b2226', '#48639c', '#f78154', '#5d2e8c', '#6bd425', '#2b2d42'],
    ['#ee7733', '#0077bb', '#33bbee', '#cc3311', '#009988', '#ee3377', '#bbbbbb', '#000000'],
  ],
};

/** Draws a style of a split. */
export function chartStyle(split: Split, level: number, random: Random): ChartStyle {
  const [width, height, size] = sizes[level - 1] ?? sizes[0];
  const name = random.pick(typefacesOf[split]);
  const isTrain = split === 'train';
  const palette = random.pick(palettes[split]);
  const start = random.integer(palette.length);
  return {
    width,
    height,
    regular: typeface(name, 400),
    bold: typeface(name, 700),
    size,
    background: random.pick(isTrain ? ['#ffffff', '#f7f7f7'] : ['#fffaf0', '#eef3f7']),
    ink: isTrain ? '#222222' : '#1d2a44',
    grid: isTrain ? '#d9d9d9' : '#b9c2cc',
    dashes: isTrain ? 'none' : '4 4',
    palette: palette.map((_, index) => palette[(start + index) % palette.length] ?? '#000000'),
    legend: isTrain ? 'right' : 'top',
  };
}
