/** Settings that every visual tool has. */
import { count, flag, optionalText, quantity } from '@saccade/core/settings';
import type { z } from 'zod';

/** Where a tool runs, and how long a call may take. */
export const common = {
  url: optionalText({
    unit: 'URL',
    about: 'The service that has this tool, e.g. a large model on a GPU; unset: this machine.',
  }),
  tokenVariable: optionalText({
    unit: 'name',
    about: 'Environment variable that holds the service’s token; no token where it is left out.',
  }),
  timeoutSeconds: quantity({
    default: 60,
    min: 0.1,
    max: 3600,
    unit: 'seconds',
    about: 'How long a call may work; waiting for a free worker does not count.',
  }),
  workers: count({
    default: 0,
    min: 0,
    max: 256,
    unit: 'processes',
    about:
      'Python processes that all visual tools of a run share; 0: one per processor, at most 4.',
  }),
  workerMemoryMb: count({
    default: 2048,
    min: 256,
    max: 65_536,
    unit: 'MB',
    about: 'Memory of each of these processes.',
  }),
  warmUp: flag({
    default: false,
    about: 'Whether processes start and load weights when the run does, not at the first call.',
  }),
};

/** Settings that every visual tool has. */
export type CommonSettings = z.output<z.ZodObject<typeof common, z.core.$strict>>;
