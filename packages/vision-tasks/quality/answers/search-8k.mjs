/** Answers searches at 8K as those at 4K. */
export { answer, blindSettings, questionType, tools, uses } from './search-4k.mjs';
