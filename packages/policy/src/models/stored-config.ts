/** `config.json` of a checkpoint, with the element type that its weights have now. */
import type { DType } from '@saccade/core';
import type { Json } from './config-fields.ts';

const TORCH: Readonly<Partial<Record<DType, string>>> = {
  f32: 'float32',
  bf16: 'bfloat16',
  f16: 'float16',
};
/** transformers' name of the field, and its older one. */
const FIELDS = ['dtype', 'torch_dtype'];
const NESTED = ['text_config', 'vision_config'];

/** The configuration with `dtype` in the place of the element type that it names. */
export function withDtype(config: Json, dtype: DType): Json {
  const name = TORCH[dtype];
  const named = (part: Json): Json => {
    const fields = FIELDS.filter((field) => typeof part[field] === 'string');
    return { ...part, ...Object.fromEntries(fields.map((field) => [field, name])) };
  };
  const nested = NESTED.flatMap((field) => {
    const part = config[field];
    return typeof part === 'object' && part !== null ? [[field, named(part as Json)]] : [];
  });
  const whole = { ...named(config), ...Object.fromEntries(nested) };
  return FIELDS.some((field) => field in whole) ? whole : { ...whole, dtype: name };
}
