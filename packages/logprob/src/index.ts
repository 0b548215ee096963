export { linearLogprob, linearSample, linearSampleTruncated } from './ops/catalog.ts';
export { logprobCatalog, logprobOps } from './registry.ts';
