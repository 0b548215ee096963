/** What the image processors of all families have in common in their files. */
import type { PixelConfig } from '../images/pixel-values.ts';
import type { JsonFields } from '../json-fields.ts';
import { imageFields, type ProcessorFiles } from '../processor-files.ts';
import { type FilterName, filterOfNumber, numberOfFilter } from '../resample/filters.ts';
import type { Arithmetic } from '../resample/windows.ts';
import type { ChannelStatistics } from './channel-defaults.ts';

const RESCALE = 1 / 255;

/**
 * Checks that images are resized, rescaled to [0, 1] and normalized: towers of these families are
 * trained on nothing else.
 *
 * @throws DataError naming the step that is switched off
 */
function checkSteps(fields: JsonFields): void {
  for (const step of ['do_resize', 'do_rescale', 'do_normalize']) {
    if (!fields.flag(step, true)) throw fields.unfit(step, 'true');
  }
  const { rescale_factor: factor } = fields.json;
  if (fields.has('rescale_factor') && !(Math.abs(Number(factor) - RESCALE) < 1e-9)) {
    throw fields.unfit('rescale_factor', '1/255');
  }
}

/**
 * How images are normalized and resized.
 *
 * @throws DataError naming the field that does not fit
 */
export function parsePixels(
  fields: JsonFields,
  arithmetic: Arithmetic,
  { mean, std }: ChannelStatistics,
  filter: FilterName,
): PixelConfig {
  checkSteps(fields);
  const number = fields.has('resample') ? fields.json.resample : numberOfFilter(filter);
  return {
    mean: fields.channels('image_mean', mean),
    std: fields.channels('image_std', std, true),
    resampling: { filter: filterOfNumber(number, fields.source), arithmetic },
  };
}

/**
 * Whose arithmetic resizes images: what is chosen, or that of the class which the files name. In
 * transformers 4 a class on torchvision is called `…Fast`; transformers 5 stores its class on
 * torchvision without a suffix.
 *
 * @param unnamed  for files of transformers 4 without the suffix
 */
export function arithmeticOf(
  files: ProcessorFiles,
  chosen: Arithmetic | undefined,
  unnamed: Arithmetic,
): Arithmetic {
  if (chosen !== undefined) return chosen;
  const type = String(imageFields(files).json.image_processor_type);
  if (type.endsWith('Pil')) return 'pillow';
  return type.endsWith('Fast') || files.layout === 'nested' ? 'torchvision' : unnamed;
}
