/** Arguments that fit a JSON Schema, as far as its plain keywords tell. */
import type { GivenArguments, JsonSchema } from '@saccade/tools';

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value for every property that is needed; other constraints than plain ones may be broken. */
export function exampleOf(schema: JsonSchema): GivenArguments {
  const [given] = Array.isArray(schema.examples) ? schema.examples : [];
  if (isObject(given)) return given;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    required
      .filter((name): name is string => typeof name === 'string')
      .map((name) => [name, plainValue(properties[name], 0)]),
  );
}

function plainValue(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > 8) return '';
  if ('const' in schema) return schema.const;
  if ('default' in schema) return schema.default;
  for (const listed of [schema.examples, schema.enum]) {
    if (Array.isArray(listed) && listed.length > 0) return listed[0];
  }
  for (const choices of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(choices) && choices.length > 0) return plainValue(choices[0], depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const number = (name: string): number => {
    const value = schema[name];
    return typeof value === 'number' ? value : 0;
  };
  if (type === 'string') return 'text'.padEnd(number('minLength'), '.');
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'array') {
    return Array.from({ length: Math.min(64, number('minItems')) }, () => {
      return plainValue(schema.items, depth + 1);
    });
  }
  if (type === 'object') return exampleOf(schema);
  const least = Math.max(number('minimum'), number('exclusiveMinimum') + 1);
  return typeof schema.maximum === 'number' ? Math.min(least, schema.maximum) : least;
}
