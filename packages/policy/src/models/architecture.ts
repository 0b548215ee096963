/** An architecture of published checkpoints as a unit: its configuration, and the model it gives. */
import type { Json } from './config-fields.ts';
import type { LanguageModel } from './language-model.ts';
import type { ModelSize, SpecialTokens } from './model-size.ts';

/** One value of `model_type`: how its configuration is read, and the model that follows from it. */
export interface Architecture<Config = unknown> {
  /** `model_type` of the configurations it reads, for example `qwen2_5_vl`. */
  readonly name: string;
  readonly description: string;
  /** Reads a `config.json`. @throws ConfigError naming the field that is missing or invalid */
  parse(json: Json): Config;
  /** A configuration of one's own size. @throws ConfigError for sizes that do not fit together */
  nano(vocabSize: number, tokens: SpecialTokens, size: ModelSize): Config;
  /** The model of a configuration. */
  model(config: Config): LanguageModel;
}

/** Defines an architecture for the catalog. It returns `unit`, with its types inferred. */
export function defineArchitecture<Config, const Name extends string>(
  unit: Architecture<Config> & { readonly name: Name },
): Architecture<Config> & { readonly name: Name } {
  return unit;
}
