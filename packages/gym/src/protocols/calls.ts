/** Typed tool calls in what models write: JSON between tags, which may be anything. */
import { MAX_ARGUMENT_DEPTH } from '@saccade/trajectory';
import { allBetween } from './markup.ts';

export const callOpen = '<tool_call>';
export const callClose = '</tool_call>';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The texts of all tool calls, in order. */
export function callTexts(text: string): readonly string[] {
  return allBetween(text, callOpen, callClose);
}

/**
 * The object that a text is; undefined if it is something else, is nested too deep, or has a number
 * that JSON cannot write (1e999): such arguments could not be stored.
 */
export function readJsonObject(text: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isJsonObject(value) && canBeStored(value, MAX_ARGUMENT_DEPTH) ? value : undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function canBeStored(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => canBeStored(inner, depth - 1));
}

/** A call in Hermes' form, `{"name": …, "arguments": {…}}`; undefined if the text is none. */
export function readHermesCall(
  text: string,
): { readonly name: string; readonly arguments: JsonObject } | undefined {
  const { name, arguments: given } = readJsonObject(text.trim()) ?? {};
  return typeof name === 'string' && isJsonObject(given) ? { name, arguments: given } : undefined;
}
