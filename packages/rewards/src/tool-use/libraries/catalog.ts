import type { Library } from '../interpreter/runtime.ts';
import { analysis } from './analysis.ts';
import { numpy } from './numpy.ts';
import { opencv } from './opencv.ts';
import { pillow } from './pillow.ts';
import { pillowParts } from './pillow-parts.ts';
import { plotting } from './plotting.ts';
import { standard } from './standard.ts';

/** Asked in this order; `analysis` takes whatever gets a picture and is not known. */
export const libraries: readonly Library[] = [
  pillow,
  pillowParts,
  numpy,
  opencv,
  plotting,
  standard,
  analysis,
];
