/** Settings of the policy's own engine: its memory, and how prompts share passes with decoding. */
import { choice, count, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/** The section `policy` of a run's settings: how the policy on local kernels samples. */
export const engineSettings = z.strictObject({
  kvCache: choice(['own', 'f32', 'bf16', 'f16'], {
    default: 'own',
    about:
      'Storage of keys and values while sampling. own: that of activations, which gives the ' +
      'log-probs of training bit for bit. 16 bits where activations are f32 take half the memory, ' +
      'and the log-probs are close. Which there are depends on the backend.',
  }),
  sampleWeights: choice(['own', 'int8', 'int4'], {
    default: 'own',
    about:
      'Weights of the decoder that samples are drawn with. own: those that train. int8: 8 bits with ' +
      'a scale for each output, int4: 4 bits with one for each 64 or 128 inputs: copies that are ' +
      'made anew after each update, for decoding that reads less memory. Trajectories are then ' +
      'scored again with the own weights before they train, and the ratio or correction of the ' +
      'algorithm is between the two.',
  }),
  kvCacheTokens: count({
    min: 0,
    max: 1_000_000_000,
    default: 0,
    unit: 'tokens',
    about:
      'Most tokens of contexts in the cache, in pages of 64; requests beyond it wait. 0: as many ' +
      'as there are.',
  }),
  prefillChunkTokens: count({
    min: 1,
    max: 10_000_000,
    default: 4096,
    unit: 'tokens',
    about:
      'Most tokens of prompts and observations that a pass computes; the rest waits while others ' +
      'decode. It changes no bit.',
  }),
  imageCacheMebibytes: count({
    min: 0,
    max: 1_000_000,
    default: 256,
    unit: 'MiB',
    about: 'Memory for features of images that were seen before, by content; 0: none are kept.',
  }),
});

/** The values of the section `policy`, with defaults filled in. */
export type EngineSettings = SettingsOf<typeof engineSettings>;
