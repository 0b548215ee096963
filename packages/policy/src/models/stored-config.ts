/** The element type of weights in `config.json`. */
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

/** The element type that a configuration names; f32 where it names none. */
export function dtypeOf(config: Json): DType {
  const parts = [config, ...NESTED.map((field) => (config[field] ?? {}) as Json)];
  const named = parts.flatMap((part) => FIELDS.map((field) => part[field]));
  const found = Object.entries(TORCH).find(([, name]) => named.includes(name));
  return (found?.[0] as DType | undefined) ?? 'f32';
}

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
