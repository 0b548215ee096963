/** The registry of processors of published checkpoints. */
import { DataError, defineRegistry, type Registry, UnsupportedError } from '@saccade/core';
import * as catalog from './families/catalog.ts';
import type { ProcessorFamily } from './families/family.ts';
import type { ProcessorFiles } from './processor-files.ts';

/** Families of checkpoints whose processors can be opened. */
export const processorFamilies: Registry<ProcessorFamily> = defineRegistry<ProcessorFamily>(
  'processor family',
  catalog,
);

/** The family whose processor models of a `model_type` have, or undefined. */
export function familyOfModel(modelType: unknown): ProcessorFamily | undefined {
  const units = processorFamilies.entries().map(([, unit]) => unit);
  return units.find(({ modelTypes }) => modelTypes.some((type) => type === modelType));
}

/**
 * The family of a checkpoint, by the `processor_class` in its files, or else its `model_type`.
 *
 * @throws UnsupportedError naming both, and those that are known; DataError if files are missing
 */
export function familyOf(files: ProcessorFiles): ProcessorFamily {
  const units = processorFamilies.entries().map(([, unit]) => unit);
  const classes = [files.processor.json, files.images?.json ?? {}, files.tokenizerConfig].map(
    ({ processor_class }) => processor_class,
  );
  const modelType = files.config.json.model_type;
  for (const name of classes) {
    const found = units.find(({ processorClasses }) =>
      processorClasses.some((one) => one === name),
    );
    if (found !== undefined) return found;
  }
  const found = familyOfModel(modelType);
  if (found !== undefined) return found;
  const asked = classes.find((name) => typeof name === 'string');
  if (asked === undefined && modelType === undefined && files.images === undefined) {
    throw new DataError(
      'The checkpoint has no image processor, and no config.json with a model_type that needs none. ' +
        'Download the whole checkpoint.',
    );
  }
  const known = units.flatMap(({ processorClasses }) => processorClasses).sort();
  throw new UnsupportedError(
    `There is no processor for processor_class ${String(asked ?? 'none')} and model_type ` +
      `${String(modelType ?? 'none')}. Known classes: ${known.join(', ')}.`,
  );
}
