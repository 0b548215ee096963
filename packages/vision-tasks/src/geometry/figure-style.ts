/** How figures look: paper, ink and hand; no look is in both splits. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { type Typeface, typeface, typefacesOf } from '../rendering/typefaces.ts';

export interface FigureStyle {
  readonly name: string;
  readonly paper: string;
  readonly ink: string;
  /** Color of the labels of given measures. */
  readonly label: string;
  /** Width of lines in pixels. */
  readonly line: number;
  /** Dashes of lines inside the figure, as SVG writes them; empty for none. */
  readonly dashes: string;
  /** How far a line drawn by hand strays; pixels. */
  readonly jitter: number;
  readonly typeface: Typeface;
  /** Font size in pixels. */
  readonly size: number;
}

type Look = Pick<FigureStyle, 'name' | 'paper' | 'ink' | 'label' | 'jitter'>;

const looksOf: Readonly<Record<Split, readonly Look[]>> = {
  train: [
    { name: 'textbook', paper: '#ffffff', ink: '#111111', label: '#111111', jitter: 0 },
    { name: 'blue-pen', paper: '#fdfcf5', ink: '#1d3f8f', label: '#a01c1c', jitter: 0.7 },
    { name: 'gray-print', paper: '#eeeeec', ink: '#333333', label: '#0b5c7a', jitter: 0 },
  ],
  heldOut: [
    { name: 'chalkboard', paper: '#1f3a32', ink: '#f2f2e8', label: '#ffe08a', jitter: 1 },
    { name: 'blueprint', paper: '#12356b', ink: '#e8f1ff', label: '#ffffff', jitter: 0 },
    { name: 'violet-print', paper: '#faf7ff', ink: '#4a1f7a', label: '#1a1a1a', jitter: 0.5 },
  ],
};

export function figureStyle(split: Split, random: Random): FigureStyle {
  return {
    ...random.pick(looksOf[split]),
    line: random.pick([1.8, 2.4, 3]),
    dashes: random.pick(['', '', '7 5']),
    typeface: typeface(random.pick(typefacesOf[split])),
    size: random.pick([18, 20, 22]),
  };
}
