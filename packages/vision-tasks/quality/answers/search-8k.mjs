/** Answers searches at 8K as those at 4K. */
export { answer, questionType, tools, uses } from './search-4k.mjs';
/** As many things as on a large wall need more room than on those of 4K. */
export const blindSettings = { width: 2560, hardest: 1 };
