/** fast-check as `npm run sweep` has it: each property is asserted of 50 times as many cases. */
import fc, { type Parameters } from '../node_modules/fast-check/lib/fast-check.js';

export * from '../node_modules/fast-check/lib/fast-check.js';

const TIMES = 50;
/** Of fast-check where a test names none. */
const DEFAULT_RUNS = 100;

const assert: typeof fc.assert = (property, parameters?: Parameters<never>) =>
  fc.assert(property, {
    ...parameters,
    numRuns: (parameters?.numRuns ?? DEFAULT_RUNS) * TIMES,
  } as never);

export { assert };
// biome-ignore lint/style/noDefaultExport: as fast-check has it
export default { ...fc, assert };
