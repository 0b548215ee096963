/** What can be chosen of a sandbox, and what it is otherwise, without loading a sandbox. */
export { defaultLimits } from './limits.ts';
export { localTiers } from './tiers.ts';
