export { constantTerm } from './constant-term.ts';
export { format } from './format.ts';
export { identicalCrops } from './identical-crops.ts';
export { length } from './length.ts';
export { needlessTurns } from './needless-turns.ts';
export { printOnly } from './print-only.ts';
export { toolSpam } from './tool-spam.ts';
