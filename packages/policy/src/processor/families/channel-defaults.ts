/** Means and deviations of channels that transformers names. */
import type { Channels } from '../json-fields.ts';

/** Mean and standard deviation: red, green, blue. */
export interface ChannelStatistics {
  readonly mean: Channels;
  readonly std: Channels;
}

/** `OPENAI_CLIP_MEAN` and `OPENAI_CLIP_STD`. */
export const openaiClip: ChannelStatistics = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
};

/** `IMAGENET_STANDARD_MEAN` and `IMAGENET_STANDARD_STD`. */
export const half: ChannelStatistics = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };
