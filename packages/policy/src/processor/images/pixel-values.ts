/** From bytes to the numbers that a vision tower takes. */
import type { Channels } from '../json-fields.ts';
import type { Resampling } from '../resample/resize.ts';

/** How pixels are resized and normalized, in every family. */
export interface PixelConfig {
  /**
   * Mean and standard deviation by which channel values in [0, 1] are normalized: red, green, blue.
   */
  readonly mean: Channels;
  readonly std: Channels;
  /** Default: bicubic with Pillow's arithmetic. */
  readonly resampling?: Resampling;
}

/** How images are resized where a configuration does not say it. */
export const DEFAULT_RESAMPLING: Resampling = { filter: 'bicubic', arithmetic: 'pillow' };

const tables = new WeakMap<PixelConfig, readonly Float32Array[]>();

/** [3][256]: the normalized value of each byte, by channel. */
export function pixelValues(config: PixelConfig): readonly Float32Array[] {
  let values = tables.get(config);
  if (values === undefined) {
    const { mean, std, resampling = DEFAULT_RESAMPLING } = config;
    const normalized = resampling.arithmetic === 'pillow' ? exactValue : torchValue;
    values = mean.map((center, channel) =>
      Float32Array.from({ length: 256 }, (_, byte) =>
        normalized(byte, center, std[channel] as number),
      ),
    );
    tables.set(config, values);
  }
  return values;
}

function exactValue(byte: number, mean: number, std: number): number {
  return (byte / 255 - mean) / std;
}

/** transformers folds 1/255 into mean and deviation, and computes in float32. */
function torchValue(byte: number, mean: number, std: number): number {
  const { fround } = Math;
  const scaledMean = fround(fround(mean) * 255);
  const scaledStd = fround(fround(std) * 255);
  return fround(fround(byte - scaledMean) / scaledStd);
}
