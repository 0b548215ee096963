/** `preprocessor_config.json`, as transformers reads and writes it. */
import { DataError } from '@saccade/core';
import { type ImageProcessorConfig, qwenImageProcessor } from './image-processor.ts';

type Json = Record<string, unknown>;

/** @throws DataError naming the field that does not fit */
export function parsePreprocessor(json: Json): ImageProcessorConfig {
  if (typeof json.size !== 'object' && json.size !== undefined) throw unfit('size', json.size);
  const config = readFields(json);
  for (const field of ['patchSize', 'mergeSize', 'temporalPatchSize'] as const) {
    if (!isWhole(config[field], 1, 1024)) throw unfit(field, config[field]);
  }
  for (const field of ['minPixels', 'maxPixels'] as const) {
    if (!isWhole(config[field], 1, 2 ** 32)) throw unfit(field, config[field]);
  }
  if (config.minPixels > config.maxPixels) throw unfit('minPixels', config.minPixels);
  if (!isChannels(config.mean)) throw unfit('mean', config.mean);
  if (!isChannels(config.std) || config.std.some((value) => value <= 0)) {
    throw unfit('std', config.std);
  }
  return config;
}

const EXPECTED = {
  size: 'an object',
  patchSize: 'a whole number from 1 to 1024',
  mergeSize: 'a whole number from 1 to 1024',
  temporalPatchSize: 'a whole number from 1 to 1024',
  minPixels: 'a whole number from 1, at most maxPixels',
  maxPixels: 'a whole number from 1 to 2³²',
  mean: 'three numbers',
  std: 'three numbers above 0',
} as const;

function unfit(field: keyof typeof EXPECTED, value: unknown): DataError {
  return new DataError(
    `preprocessor_config.json: ${field} must be ${EXPECTED[field]}, is ${JSON.stringify(value)}. ` +
      'Write or download it again.',
  );
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function isChannels(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length === 3 && value.every(Number.isFinite);
}

function readFields(json: Json): ImageProcessorConfig {
  const size = (json.size ?? {}) as Json;
  const pick = <T>(fallback: T, ...values: readonly unknown[]): T =>
    (values.find((value) => value !== undefined && value !== null) as T | undefined) ?? fallback;
  const defaults = qwenImageProcessor;
  return {
    patchSize: pick(defaults.patchSize, json.patch_size),
    mergeSize: pick(defaults.mergeSize, json.merge_size),
    temporalPatchSize: pick(defaults.temporalPatchSize, json.temporal_patch_size),
    minPixels: pick(defaults.minPixels, json.min_pixels, size.min_pixels, size.shortest_edge),
    maxPixels: pick(defaults.maxPixels, json.max_pixels, size.max_pixels, size.longest_edge),
    mean: pick(defaults.mean, json.image_mean),
    std: pick(defaults.std, json.image_std),
  };
}

export function formatPreprocessor(config: ImageProcessorConfig): Json {
  return {
    image_processor_type: 'Qwen2VLImageProcessor',
    processor_class: 'Qwen2_5_VLProcessor',
    do_convert_rgb: true,
    do_resize: true,
    do_rescale: true,
    rescale_factor: 1 / 255,
    do_normalize: true,
    image_mean: config.mean,
    image_std: config.std,
    resample: 3,
    min_pixels: config.minPixels,
    max_pixels: config.maxPixels,
    size: { shortest_edge: config.minPixels, longest_edge: config.maxPixels },
    patch_size: config.patchSize,
    merge_size: config.mergeSize,
    temporal_patch_size: config.temporalPatchSize,
  };
}
