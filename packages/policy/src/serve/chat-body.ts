/** The body of a chat completion, in the words of OpenAI and vLLM. */
import { z } from 'zod';
import type { Json } from '../processor/json-fields.ts';
import { optional, shared, stop, temperature } from './request-body.ts';

const part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
]);

const call = z.object({
  function: z.object({
    name: z.string(),
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]),
  }),
});

const message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(call).nullish(),
});

const tool = z.object({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string() }),
});

/** A message as it is sent. */
export type ChatBodyMessage = z.output<typeof message>;

export const chatBody = z.object({
  ...shared,
  temperature,
  stop,
  model: optional(z.string()),
  messages: z.array(message).min(1),
  tools: optional(z.array(tool)),
  tool_choice: optional(
    z.enum(['auto', 'none'], {
      message: 'only "auto" and "none" are served: a call cannot be forced',
    }),
  ),
  max_tokens: optional(z.int().min(1)),
  max_completion_tokens: optional(z.int().min(1)),
  logprobs: optional(z.boolean()),
  stream: optional(z.boolean()),
  stream_options: optional(z.object({ include_usage: optional(z.boolean()) })),
  return_token_ids: optional(z.boolean()),
  session_id: optional(z.string()),
  request_id: optional(z.string()),
});

export type ChatBody = z.output<typeof chatBody>;

/** The tools of a body that the model may call. */
export function toolsOf({ tools, tool_choice: choice }: ChatBody): readonly Json[] {
  return choice === 'none' ? [] : ((tools ?? []) as readonly Json[]);
}
