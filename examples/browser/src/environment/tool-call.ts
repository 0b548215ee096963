/** Reads what a model writes in a turn: a typed tool call, an answer, or neither. */

/** The kinds of faulty calls; a closed set of stable words, which the model sees. */
export type ToolErrorType = 'BadJson' | 'UnknownTool' | 'BadArguments' | 'OutsidePicture';

/** A call that cannot be run: one sentence for the fact, one for the remedy. */
export class ToolError extends Error {
  readonly type: ToolErrorType;

  constructor(type: ToolErrorType, message: string) {
    super(message);
    this.name = 'ToolError';
    this.type = type;
  }
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type ModelTurn =
  | { readonly kind: 'call'; readonly json: string }
  | { readonly kind: 'answer'; readonly answer: string }
  | { readonly kind: 'neither' };

/** Turns end at these; they stay in the text. */
export const stopStrings: readonly string[] = ['</tool_call>', '</answer>'];

/** The first thing a turn says, so that nothing after it counts. */
export function readTurn(text: string): ModelTurn {
  const found = /<(tool_call|answer)>([\s\S]*?)<\/\1>/.exec(text);
  if (found === null) return { kind: 'neither' };
  const inside = (found[2] ?? '').trim();
  return found[1] === 'answer'
    ? { kind: 'answer', answer: inside }
    : { kind: 'call', json: inside };
}

/** A call as text: what demonstrations write and `parseToolCall` reads. */
export function toolCallText(call: ToolCall): string {
  return `<tool_call>${JSON.stringify(call)}</tool_call>`;
}

export function answerText(answer: string): string {
  return `<answer>${answer}</answer>`;
}

/** @throws ToolError if the text is not JSON, or the JSON is not a call */
export function parseToolCall(json: string): ToolCall {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new ToolError('BadJson', 'The call is no JSON. Write one object.');
  }
  if (!isRecord(value) || typeof value.name !== 'string' || !isRecord(value.arguments)) {
    throw new ToolError('BadJson', 'A call has a name and arguments. Write both.');
  }
  return { name: value.name, arguments: value.arguments };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
