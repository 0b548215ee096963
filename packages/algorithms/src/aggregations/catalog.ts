export { fixedLength } from './fixed-length.ts';
export { sequenceMeanTokenMean } from './sequence-mean-token-mean.ts';
export { sequenceMeanTokenSum } from './sequence-mean-token-sum.ts';
export { tokenMean } from './token-mean.ts';
export { tokenSum } from './token-sum.ts';
