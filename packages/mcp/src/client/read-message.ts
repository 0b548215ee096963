/** One line of a server as a JSON-RPC message, or what is wrong with it. */
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { parseJson } from '@saccade/http';

export interface ReadMessage {
  readonly message?: JSONRPCMessage;
  readonly problem?: string;
}

/**
 * Lines that are no JSON are passed over: servers print there by mistake. An answer that is JSON and
 * no JSON-RPC becomes an error under its id, so that nobody waits for it.
 */
export function readMessage(line: string): ReadMessage {
  let value: unknown;
  try {
    value = parseJson(line, { maxDepth: 128 });
  } catch {
    return { problem: `No message: ${line.slice(0, 200)}` };
  }
  const parsed = JSONRPCMessageSchema.safeParse(value);
  if (parsed.success) return { message: parsed.data };
  const problem = `No JSON-RPC message: ${line.slice(0, 200)}`;
  const { id, method } = (value ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  if (method !== undefined || (typeof id !== 'string' && typeof id !== 'number'))
    return { problem };
  const error = { code: -32603, message: 'The answer is no JSON-RPC.' };
  return { problem, message: { jsonrpc: '2.0', id, error } };
}
