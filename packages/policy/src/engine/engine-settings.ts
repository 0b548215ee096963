/** Settings of the policy's own engine: its memory, and how prompts share passes with decoding. */
import { choice, count, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/** The section `policy` of a run's settings: how the policy on local kernels samples. */
export const engineSettings = z.strictObject({
  kvCache: choice(['f32', 'bf16', 'f16'], {
    default: 'f32',
    about:
      'Storage of keys and values while sampling; 16 bits take half the memory, and sampled ' +
      'log-probs are then not those of training bit for bit. Which there are depends on the backend.',
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
