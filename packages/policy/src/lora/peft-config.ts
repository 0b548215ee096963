/** `adapter_config.json` of peft: read, and written. */
import { DataError } from '@saccade/core';
import type { LoraScale } from '@saccade/nn';
import type { Json } from '../models/config-fields.ts';

/** peft's description of an adapter. */
export interface PeftConfig {
  /** The base: a path, or a name of a hub; absent where the writer knew none. */
  readonly base?: string;
  readonly revision?: string;
  /** How much the adapter of a layer adds, by the layer's name in transformers. */
  scaleOf(layer: string): LoraScale;
}

export const PEFT_CONFIG = 'adapter_config.json';
export const PEFT_WEIGHTS = 'adapter_model.safetensors';

/** Fields whose other values would change what the adapter computes, and what they must be. */
const ONLY: Readonly<Record<string, readonly unknown[]>> = {
  peft_type: ['LORA'],
  use_dora: [false, undefined, null],
  fan_in_fan_out: [false, undefined, null],
  bias: ['none', undefined, null],
  lora_bias: [false, undefined, null],
  lora_dropout: [0, undefined, null],
  modules_to_save: [undefined, null],
  target_parameters: [undefined, null],
  trainable_token_indices: [undefined, null],
  layer_replication: [undefined, null],
  alora_invocation_tokens: [undefined, null],
};

/** @throws DataError naming the field that is not understood here */
export function parsePeftConfig(json: Json, directory: string): PeftConfig {
  const refuse = (field: string, expected: string): never => {
    throw new DataError(
      `${PEFT_CONFIG} in ${directory}: ${field} must be ${expected}, is ` +
        `${JSON.stringify(json[field])}. Only plain LoRA of linear layers is supported.`,
    );
  };
  for (const [field, allowed] of Object.entries(ONLY)) {
    const value = json[field];
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (!isEmpty && !allowed.includes(value)) refuse(field, JSON.stringify(allowed[0] ?? null));
  }
  const { r: rank, lora_alpha: alpha, use_rslora: rsLora = false } = json;
  if (typeof rank !== 'number') return refuse('r', 'a number');
  if (typeof alpha !== 'number') return refuse('lora_alpha', 'a number');
  const ranks = patternsOf(json.rank_pattern);
  const alphas = patternsOf(json.alpha_pattern);
  return {
    ...(typeof json.base_model_name_or_path === 'string' && { base: json.base_model_name_or_path }),
    ...(typeof json.revision === 'string' && { revision: json.revision }),
    scaleOf: (layer) => ({
      rank: ranks.find(({ test }) => test.test(layer))?.value ?? rank,
      alpha: alphas.find(({ test }) => test.test(layer))?.value ?? alpha,
      rsLora: rsLora === true,
    }),
  };
}

/** `rank_pattern` and `alpha_pattern`: numbers by ends of layer names, or expressions for them. */
function patternsOf(value: unknown): readonly { readonly test: RegExp; readonly value: number }[] {
  const entries = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  return entries.flatMap(([pattern, number]) =>
    typeof number === 'number' ? [{ test: endOfName(pattern), value: number }] : [],
  );
}

function endOfName(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:.*\\.)?(?:${pattern})$`);
  } catch (error) {
    throw new DataError(
      `${PEFT_CONFIG}: the pattern ${JSON.stringify(pattern)} is no regular expression here. ` +
        'Write it with names alone.',
      { cause: error },
    );
  }
}

/** One adapted layer as peft's configuration describes it. */
export interface PeftLayer {
  /** Name in transformers. */
  readonly name: string;
  readonly scale: LoraScale;
}

/**
 * Formats the configuration of an adapter.
 *
 * @param layers  those with an adapter
 * @param others  all other modules, which no target may name: peft takes any module that ends so
 */
export function formatPeftConfig(
  layers: readonly PeftLayer[],
  others: readonly string[],
  base: { readonly name?: string; readonly revision?: string },
): Json {
  const first = layers[0]?.scale ?? { rank: 1, alpha: 1, rsLora: false };
  const differing = (field: 'rank' | 'alpha') =>
    Object.fromEntries(
      layers
        .filter(({ scale }) => scale[field] !== first[field])
        .map(({ name, scale }) => [name.replaceAll('.', '\\.'), scale[field]]),
    );
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base.name ?? null,
    revision: base.revision ?? null,
    r: first.rank,
    lora_alpha: first.alpha,
    use_rslora: first.rsLora,
    rank_pattern: differing('rank'),
    alpha_pattern: differing('alpha'),
    target_modules: targetsOf(
      layers.map(({ name }) => name),
      others,
    ),
    lora_dropout: 0,
    bias: 'none',
    use_dora: false,
    fan_in_fan_out: false,
    init_lora_weights: true,
    modules_to_save: null,
    inference_mode: true,
  };
}

/** Ends of the names where they name these layers alone, else the whole names. */
function targetsOf(names: readonly string[], others: readonly string[]): readonly string[] {
  const endOf = (name: string) => name.slice(name.lastIndexOf('.') + 1);
  const ends = new Set(names.map(endOf));
  return others.some((name) => ends.has(endOf(name))) ? names : [...ends].sort();
}
