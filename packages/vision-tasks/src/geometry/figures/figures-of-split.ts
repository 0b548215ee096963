/** The kinds of figures of each split; no kind is in both. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import type { Figure } from '../figure.ts';
import { crossingChords, inscribedAngles, tangentAngles, tangentLengths } from './circles.ts';
import {
  parallelogramWithDiagonal,
  parallelsWithTransversals,
  rectangleWithPoint,
} from './parallels.ts';
import {
  extendedIsosceles,
  triangleWithCevian,
  triangleWithHeight,
  triangleWithParallel,
} from './triangles.ts';

export const figuresOf: Readonly<Record<Split, readonly ((random: Random) => Figure)[]>> = {
  train: [
    triangleWithCevian,
    triangleWithHeight,
    triangleWithParallel,
    parallelsWithTransversals,
    rectangleWithPoint,
    inscribedAngles,
  ],
  heldOut: [
    extendedIsosceles,
    parallelogramWithDiagonal,
    crossingChords,
    tangentAngles,
    tangentLengths,
  ],
};
