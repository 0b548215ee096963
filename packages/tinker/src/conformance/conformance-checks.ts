export { incarnations, nothingTwice, sequenceNumbers } from './checks/exactly-once.ts';
export { forestsAreRows, imagesMatter, strangeTokens, temperatures } from './checks/forests.ts';
export {
  additive,
  importanceSampling,
  linear,
  namedLosses,
  normOfGradients,
  zeroWeights,
} from './checks/gradients.ts';
export { sampledIsScored } from './checks/sampling.ts';
export { fieldsOfOptimizer, sameAsLocal, savedWeights, versions } from './checks/steps.ts';
