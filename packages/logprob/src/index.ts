export { linearLogprob, linearSample } from './ops/catalog.ts';
export { logprobCatalog, logprobOps } from './registry.ts';
