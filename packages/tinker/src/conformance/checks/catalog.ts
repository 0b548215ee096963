export { incarnations, nothingTwice, sequenceNumbers } from './exactly-once.ts';
export { forestsAreRows, imagesMatter, strangeTokens, temperatures } from './forests.ts';
export {
  additive,
  importanceSampling,
  linear,
  namedLosses,
  normOfGradients,
  zeroWeights,
} from './gradients.ts';
export { sampledIsScored } from './sampling.ts';
export { fieldsOfOptimizer, sameAsLocal, savedWeights, versions } from './steps.ts';
