/** `preprocessor_config.json`, as transformers reads and writes it. */
import { type ImageProcessorConfig, qwenImageProcessor } from './image-processor.ts';

type Json = Record<string, unknown>;

export function parsePreprocessor(json: Json): ImageProcessorConfig {
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
