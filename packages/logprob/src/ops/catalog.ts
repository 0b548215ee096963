export { linearLogprob } from './linear-logprob.ts';
export { linearSample } from './linear-sample.ts';
export { linearSampleTruncated } from './linear-sample-truncated.ts';
