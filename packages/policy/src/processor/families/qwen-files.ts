/** The image and video processors of Qwen2-VL and its successors, as transformers stores them. */
import { type ImageProcessorConfig, qwenImageProcessor } from '../image-processor.ts';
import { DEFAULT_RESAMPLING } from '../images/pixel-values.ts';
import type { Json, JsonFields } from '../json-fields.ts';
import { numberOfFilter } from '../resample/filters.ts';
import type { Arithmetic } from '../resample/windows.ts';
import type { QwenVideos } from '../videos/qwen-videos.ts';
import { parsePixels } from './image-steps.ts';

/** @throws DataError naming the field that does not fit */
export function parseQwenImages(
  fields: JsonFields,
  arithmetic: Arithmetic = 'pillow',
  defaults: ImageProcessorConfig = qwenImageProcessor,
): ImageProcessorConfig {
  const pixels = (bound: 'min' | 'max', edge: string): number => {
    const size = fields.object('size');
    const [field, own] = [
      `${bound}_pixels`,
      bound === 'min' ? defaults.minPixels : defaults.maxPixels,
    ];
    if (fields.has(field)) return fields.count(field, 1, 2 ** 32);
    return size.has(field) ? size.count(field, 1, 2 ** 32) : size.count(edge, 1, 2 ** 32, own);
  };
  const minPixels = pixels('min', 'shortest_edge');
  const maxPixels = pixels('max', 'longest_edge');
  if (minPixels > maxPixels) {
    throw fields.unfit(
      'size',
      `with a shortest_edge (${minPixels}) up to longest_edge (${maxPixels})`,
    );
  }
  return {
    patchSize: fields.count('patch_size', 1, 1024, defaults.patchSize),
    mergeSize: fields.count('merge_size', 1, 1024, defaults.mergeSize),
    temporalPatchSize: fields.count('temporal_patch_size', 1, 1024, defaults.temporalPatchSize),
    minPixels,
    maxPixels,
    ...parsePixels(fields, arithmetic, defaults, 'bicubic'),
  };
}

/** The same fields, for `preprocessor_config.json`. */
export function formatQwenImages(
  config: ImageProcessorConfig,
  processorClass = 'Qwen2_5_VLProcessor',
): Json {
  const { filter, arithmetic } = config.resampling ?? DEFAULT_RESAMPLING;
  const suffix = arithmetic === 'torchvision' ? 'Fast' : '';
  return {
    image_processor_type: `Qwen2VLImageProcessor${suffix}`,
    processor_class: processorClass,
    do_convert_rgb: true,
    do_resize: true,
    do_rescale: true,
    rescale_factor: 1 / 255,
    do_normalize: true,
    image_mean: config.mean,
    image_std: config.std,
    resample: numberOfFilter(filter),
    min_pixels: config.minPixels,
    max_pixels: config.maxPixels,
    size: { shortest_edge: config.minPixels, longest_edge: config.maxPixels },
    patch_size: config.patchSize,
    merge_size: config.mergeSize,
    temporal_patch_size: config.temporalPatchSize,
  };
}

/** @throws DataError naming the field that does not fit */
export function parseQwenVideos(fields: JsonFields, defaults: QwenVideos): QwenVideos {
  return {
    // Videos are always resized by torchvision.
    ...parseQwenImages(fields, 'torchvision', defaults),
    capsFrames: fields.flag('cap_pixels_per_frame', defaults.capsFrames),
    maxVideoTokens: fields.count('max_video_tokens', 1, 2 ** 32, defaults.maxVideoTokens),
  };
}
