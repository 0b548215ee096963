/** A tool unit: the tools of a service of `saccade serve tools`, under their own names. */
import { count, optionalText, quantity, text, textList } from '@saccade/core/settings';
import { defineToolUnit } from '@saccade/tools';
import { z } from 'zod';
import { remoteTools } from './remote-tools.ts';

const settings = z.strictObject({
  url: text({
    default: 'http://127.0.0.1:8720',
    unit: 'URL',
    about: 'Where the service listens.',
  }),
  names: textList({
    unit: 'names',
    about: 'Which of its tools, as name or name@version; all of them where none is named.',
  }),
  tokenVariable: optionalText({
    unit: 'name',
    about: 'Environment variable that holds the service’s token; no token where it is left out.',
  }),
  timeoutSeconds: quantity({
    ...{ min: 0.001, max: 86_400, default: 60, unit: 'seconds' },
    about: 'Longest call, with all its tries.',
  }),
  maxInFlight: count({
    ...{ min: 1, max: 100_000, default: 64, unit: 'requests' },
    about: 'Requests at a time; more wait.',
  }),
  maxBatch: count({
    ...{ min: 1, max: 256, default: 1, unit: 'calls' },
    about: 'Calls that are gathered into one request, which is answered when its slowest call is.',
  }),
  retries: count({
    ...{ min: 0, max: 100, default: 1, unit: 'tries' },
    about: 'Tries after the first of a call that failed in the service.',
  }),
});

/** The tools of a service. */
export const remote = defineToolUnit({
  name: 'remote',
  description: 'The tools of a service of `saccade serve tools`.',
  settings,
  // Only the service knows its tools.
  describe: () => [],
  async open({ tokenVariable, ...options }, host) {
    const token =
      tokenVariable === undefined
        ? undefined
        : host.secret('tools.remote.tokenVariable', tokenVariable);
    return await remoteTools({ ...options, ...(token !== undefined && { token }) }, host);
  },
});
