export { answersMatch } from './answers-match.ts';
export { areEquivalent } from './equivalence.ts';
export type { Expression } from './expression.ts';
export { type ParseOptions, parseAnswer } from './parse-answer.ts';
export { defaultPrecision, type Precision } from './precision.ts';
export { parseUnit, type Unit } from './units.ts';
