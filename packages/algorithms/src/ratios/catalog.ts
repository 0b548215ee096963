export { behaviorRatio, behaviorSequenceRatio } from './behavior.ts';
export { correctedSequenceRatio } from './corrected-sequence.ts';
export { decoupledRatio } from './decoupled.ts';
export { geometricMeanRatio } from './geometric-mean.ts';
export { sequenceRatio, sequenceRatioStraightThrough, sequenceRatioSum } from './sequence.ts';
export { tokenRatio } from './token.ts';
