/** The libraries that code is followed through, in the order in which they are asked. */
import type { Library } from '../interpreter/runtime.ts';
import { analysis } from './analysis.ts';
import { numpy } from './numpy.ts';
import { opencv } from './opencv.ts';
import { pillow } from './pillow.ts';
import { pillowParts } from './pillow-parts.ts';
import { plotting } from './plotting.ts';
import { standard } from './standard.ts';

/** `analysis` comes last: it takes whatever gets an image and is not known. */
export const libraries: readonly Library[] = [
  pillow,
  pillowParts,
  numpy,
  opencv,
  plotting,
  standard,
  analysis,
];
