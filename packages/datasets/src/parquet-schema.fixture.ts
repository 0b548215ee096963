/** Parquet schemas for nested values of tests, as pyarrow would write them. */
import type { SchemaElement } from 'hyparquet';

/** The schema of columns by an example of each: structs, lists, texts, numbers, bytes. */
export function schemaOf(columns: readonly (readonly [string, unknown])[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(([name, value]) => elementsOf(name, value)),
  ];
}

function elementsOf(name: string, value: unknown): SchemaElement[] {
  const optional = { name, repetition_type: 'OPTIONAL' } as const;
  if (Array.isArray(value)) {
    return [
      { ...optional, num_children: 1, converted_type: 'LIST' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      ...elementsOf('element', value[0] ?? ''),
    ];
  }
  if (value instanceof Uint8Array) return [{ ...optional, type: 'BYTE_ARRAY' }];
  if (typeof value === 'number') {
    return [{ ...optional, type: Number.isInteger(value) ? 'INT32' : 'DOUBLE' }];
  }
  if (typeof value === 'boolean') return [{ ...optional, type: 'BOOLEAN' }];
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value);
    return [
      { ...optional, num_children: fields.length },
      ...fields.flatMap(([key, inner]) => elementsOf(key, inner)),
    ];
  }
  return [{ ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' }];
}
