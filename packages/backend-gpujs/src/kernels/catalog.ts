export { attention } from './attention.ts';
export { linearLogprob } from './linear-logprob.ts';
