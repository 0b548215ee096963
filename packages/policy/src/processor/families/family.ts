/** A family of checkpoints as a unit: how its processor is made from its files. */
import type { SpecialTokens } from '../../models/model-size.ts';
import type { CheckpointProcessor, ProcessorOptions } from '../checkpoint-processor.ts';
import type { Json, JsonFields } from '../json-fields.ts';
import type { ProcessorFiles } from '../processor-files.ts';
import type { Arithmetic } from '../resample/windows.ts';

/** What opens a processor, besides its files. */
export interface FamilyOptions extends ProcessorOptions {
  /** Whose resizing; default: that of transformers' own default for the family. */
  readonly arithmetic?: Arithmetic;
}

/** The images of a model that is not published. */
export interface OwnImages {
  /** Smallest and largest area that the model sees of an image, pixels. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /** The model's `config.json`. */
  readonly config: JsonFields;
}

/** How a family makes a processor for a model that is not published, such as `nano`. */
export interface OwnProcessor {
  /** Names of the tokens in place of images and videos, and of those around them. */
  readonly special: { readonly [Token in keyof SpecialTokens]: string };
  /** Ends a turn. */
  readonly endOfTurn: string;
  readonly chatTemplate: string;
  /** Largest area of images where none is given, pixels; absent where any area suits. */
  maxPixels?(config: JsonFields): number;
  /** All control tokens, in the order of their ids. */
  controlTokens(images: OwnImages): readonly string[];
  /** Contents of `processor_config.json` and `preprocessor_config.json`. */
  files(images: OwnImages): { readonly processor: Json; readonly images: Json };
}

/** A family, found by the names in a checkpoint's files. */
export interface ProcessorFamily {
  readonly name: string;
  readonly description: string;
  /** Values of `processor_class`. */
  readonly processorClasses: readonly string[];
  /** Values of `model_type`, for checkpoints that name no class. */
  readonly modelTypes: readonly string[];
  /** Absent where no model of the family is made but those that are published. */
  readonly own?: OwnProcessor;
  /** @throws DataError naming the file and the field that do not fit */
  open(files: ProcessorFiles, options: FamilyOptions): CheckpointProcessor;
}

/** Defines a family for the catalog. It returns `unit`. */
export function defineFamily<const Name extends string>(
  unit: ProcessorFamily & { readonly name: Name },
): ProcessorFamily & { readonly name: Name } {
  return unit;
}
