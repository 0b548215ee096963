/** What pictures go through, library by library. */
import type { Library } from './interpreter/runtime.ts';
import { analysis } from './libraries/analysis.ts';
import { numpy } from './libraries/numpy.ts';
import { opencv } from './libraries/opencv.ts';
import { pillow } from './libraries/pillow.ts';
import { pillowParts } from './libraries/pillow-parts.ts';
import { plotting } from './libraries/plotting.ts';
import { standard } from './libraries/standard.ts';

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
