/** The fields of a configuration as people look them up: path, range, default, meaning. */
import { z } from 'zod';
import { runConfigSchema } from './config-schema.ts';

/** A field as people look it up. */
export interface ConfigField {
  /** Dotted path, e.g. `rl.groupSize`. */
  readonly path: string;
  readonly unit: string;
  /** What it may be: `an integer in [2, 1024]`. */
  readonly range: string;
  readonly preset: unknown;
  readonly about: string;
}

function describeRange(inner: z.core.$ZodType): string {
  if (inner instanceof z.ZodBoolean) return 'true or false';
  if (inner instanceof z.ZodEnum) return `one of ${inner.options.join(', ')}`;
  if (inner instanceof z.ZodNumber) {
    const kind = inner.format === 'safeint' ? 'an integer' : 'a number';
    return `${kind} in [${inner.minValue}, ${inner.maxValue}]`;
  }
  if (inner instanceof z.ZodRecord) return 'values by name';
  return 'a name';
}

function fieldsOf(shape: Readonly<Record<string, z.core.$ZodType>>, prefix: string): ConfigField[] {
  return Object.entries(shape).flatMap(([key, type]) => {
    const path = prefix + key;
    if (type instanceof z.ZodPrefault && type.def.innerType instanceof z.ZodObject) {
      return fieldsOf(type.def.innerType.shape, `${path}.`);
    }
    if (!(type instanceof z.ZodDefault)) return [];
    const meta = (type.meta() ?? {}) as { unit?: string; description?: string };
    return [
      {
        path,
        unit: meta.unit ?? '',
        range: describeRange(type.def.innerType),
        preset: type.def.defaultValue,
        about: meta.description ?? '',
      },
    ];
  });
}

/** Every field of the configuration, in the order of the schema. */
export function listConfigFields(): readonly ConfigField[] {
  return fieldsOf((runConfigSchema as unknown as z.ZodObject).shape, '');
}
