export { importanceWeights } from './importance-weights.ts';
export { rejectionMask } from './rejection.ts';
