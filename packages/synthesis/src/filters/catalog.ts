export { exactMatch } from './exact-match.ts';
export { failedExecutions } from './failed-executions.ts';
export { fewToolTurns } from './few-tool-turns.ts';
export { judge } from './judge.ts';
export { length } from './length.ts';
export { wrongAnswer } from './wrong-answer.ts';
