/** JSON that is the same for equal values, whatever the order of their keys. */

/**
 * JSON text with the keys of every object in order. Numbers are written as `JSON.stringify` writes
 * them, so that 1 and 1.0 are one value.
 *
 * @param value of JSON: no functions, no cycles
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, own]) => own !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, own]) => `${JSON.stringify(key)}:${canonicalJson(own)}`);
  return `{${entries.join(',')}}`;
}
