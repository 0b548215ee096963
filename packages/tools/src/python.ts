/** Values of JavaScript in a Python script. */

/** An expression of the value: JSON in a string literal, which Python reads back. */
export function pythonValue(value: unknown): string {
  return `__import__('json').loads(${JSON.stringify(JSON.stringify(value))})`;
}
