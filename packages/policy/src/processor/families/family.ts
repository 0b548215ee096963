/** A family of checkpoints as a unit: how its processor is made from its files. */
import type { CheckpointProcessor, ProcessorOptions } from '../checkpoint-processor.ts';
import type { ProcessorFiles } from '../processor-files.ts';
import type { Arithmetic } from '../resample/windows.ts';

/** What opens a processor, besides its files. */
export interface FamilyOptions extends ProcessorOptions {
  /** Whose resizing; default: that of transformers' own default for the family. */
  readonly arithmetic?: Arithmetic;
}

/** A family, found by the names in a checkpoint's files. */
export interface ProcessorFamily {
  readonly name: string;
  readonly description: string;
  /** Values of `processor_class`. */
  readonly processorClasses: readonly string[];
  /** Values of `model_type`, for checkpoints that name no class. */
  readonly modelTypes: readonly string[];
  /** @throws DataError naming the file and the field that do not fit */
  open(files: ProcessorFiles, options: FamilyOptions): CheckpointProcessor;
}

/** Defines a family for the catalog. It returns `unit`. */
export function defineFamily<const Name extends string>(
  unit: ProcessorFamily & { readonly name: Name },
): ProcessorFamily & { readonly name: Name } {
  return unit;
}
