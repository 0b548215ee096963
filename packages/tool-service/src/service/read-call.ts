/** The tool call in what a model wrote, which may be anything; read in one pass. */
import { parseJson } from '@saccade/http';
import type { GivenArguments } from '@saccade/tools';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

/** A call as the model means it, or why its text is none. */
export type ReadCall =
  | { readonly tool: string; readonly given: GivenArguments }
  | { readonly problem: string };

/**
 * The first call of a text: `{"tool": name, "task": …, "arguments": {…}}` (VISTA) or `{"name": name,
 * "arguments": {…}}` (Hermes) between tags; the closing one may be missing, where generation halts.
 * Without `arguments`, all other keys are the arguments.
 *
 * @returns undefined for a text without a call
 */
export function readCall(text: string): ReadCall | undefined {
  const start = text.indexOf(OPEN);
  if (start < 0) return undefined;
  const end = text.indexOf(CLOSE, start + OPEN.length);
  const json = text.slice(start + OPEN.length, end < 0 ? undefined : end);
  let value: unknown;
  try {
    value = parseJson(json, { maxDepth: 32, maxValues: 100_000 });
  } catch {
    return { problem: 'The call is no JSON.' };
  }
  if (!isObject(value)) return { problem: 'The call is no JSON object.' };
  const { tool, name = tool, arguments: given, ...others } = value;
  if (typeof name !== 'string') return { problem: 'The call names no tool.' };
  if (given === undefined) return { tool: name, given: others };
  const { task } = others;
  const named = isObject(given) ? given : { arguments: given };
  return { tool: name, given: task === undefined ? named : { ...named, task } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
