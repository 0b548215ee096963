/** The processor of a checkpoint's directory, without the weights. */
import type { CheckpointProcessor } from './checkpoint-processor.ts';
import type { FamilyOptions, ProcessorFamily } from './families/family.ts';
import { familyOf } from './family-registry.ts';
import { readProcessorFiles } from './processor-files.ts';

/** How a checkpoint's processor is opened. */
export interface LoadProcessorOptions extends FamilyOptions {
  /** A family of one's own; default: the one that the files name. */
  readonly family?: ProcessorFamily;
}

/**
 * Opens the processor of a checkpoint as it was published: its tokenizer, its chat template, and
 * its image and video processors, from `processor_config.json` (transformers 5) or the files that
 * older versions write.
 *
 * @throws DataError         naming the file that is missing, or the field that does not fit
 * @throws UnsupportedError  if the checkpoint is of another family
 */
export async function loadProcessor(
  directory: string,
  options: LoadProcessorOptions = {},
): Promise<CheckpointProcessor> {
  const files = await readProcessorFiles(directory);
  return (options.family ?? familyOf(files)).open(files, options);
}
