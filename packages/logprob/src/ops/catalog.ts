export { linearLogprob } from './linear-logprob.ts';
export { linearSample } from './linear-sample.ts';
