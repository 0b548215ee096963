/** OpenAI's chat completions: conversations with images and tools, whole or streamed. */
import { callOf, readJson } from '@saccade/http/service';
import type { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { chatBody, toolsOf } from './chat-body.ts';
import { chatPrompt } from './chat-prompt.ts';
import { callMark, GrowingText, type Reply, readReply } from './chat-text.ts';
import type { PromptReader } from './prompt.ts';
import { asRefusal } from './refusal.ts';
import { seedOf, stopsOf, truncationOf } from './request-body.ts';
import type { ServedEngine, ServedRequest } from './served-engine.ts';
import { firstStop, identityOf, orAborted, trimmed, usageOf } from './vllm-routes.ts';

/** Most tokens of a reply that asks for no number. */
const REPLY_TOKENS = 512;

/** What the route needs of the service. */
export interface ChatRouteOptions {
  readonly engine: ServedEngine;
  readonly prompts: PromptReader;
  readonly model: string;
}

/** `POST /v1/chat/completions`. */
export function addChatRoute(app: Hono, { engine, prompts, model }: ChatRouteOptions): void {
  const { processor } = engine.policy;
  app.post('/v1/chat/completions', async (context) => {
    const { body, text } = await readJson(context, chatBody);
    const { tokens, images } = await chatPrompt(body, processor, prompts);
    const request: ServedRequest = {
      ...{ tokens, images, seed: seedOf(text, 'seed'), ...identityOf(body) },
      ...{ maxTokens: body.max_completion_tokens ?? body.max_tokens ?? REPLY_TOKENS },
      ...{ temperature: body.temperature ?? 1, ...truncationOf(body), stop: stopsOf(body.stop) },
      signal: callOf(context).signal,
    };
    const id = `chatcmpl-${body.request_id ?? crypto.randomUUID()}`;
    const head = { id, created: Math.floor(Date.now() / 1000), model };
    const takesCalls = toolsOf(body).length > 0;
    const ask = async (onToken?: (token: number) => void) => {
      const result = await orAborted(engine, () =>
        engine.sample({ ...request, ...(onToken && { onToken }) }),
      );
      const reply = readReply(trimmed(result.text, request.stop), takesCalls, id);
      const usage = usageOf(tokens.length, result.tokens.length);
      // As vLLM does: which stop string it was, or null.
      const stop_reason =
        (result.finish === 'stop' && firstStop(result.text, request.stop)) || null;
      return { result, reply, usage, finish_reason: finishOf(result, reply), stop_reason };
    };
    if (body.stream !== true) {
      const { result, reply, usage, finish_reason, stop_reason } = await ask();
      const ids = Array.from(result.tokens);
      const choice = {
        ...{ index: 0, finish_reason, stop_reason, message: messageOf(reply) },
        logprobs: body.logprobs === true ? { content: logprobsOf(ids, result.logprobs) } : null,
        ...(body.return_token_ids === true && { token_ids: ids }),
      };
      const given = body.return_token_ids === true && { prompt_token_ids: Array.from(tokens) };
      return context.json({
        ...head,
        object: 'chat.completion',
        choices: [choice],
        usage,
        ...given,
      });
    }
    const write = async (stream: SSEStreamingApi) => {
      const chunk = (delta: object, rest: object = {}, choices = true) => {
        const choice = { index: 0, delta, finish_reason: null, ...rest };
        const data = { ...head, object: 'chat.completion.chunk', choices: choices ? [choice] : [] };
        return stream.writeSSE({ data: JSON.stringify(choices ? data : { ...data, ...rest }) });
      };
      const ends = takesCalls ? [...request.stop, callMark] : request.stop;
      const growing = new GrowingText((some) => decodeReply(engine, some), ends);
      await chunk({ role: 'assistant', content: '' });
      const { reply, usage, finish_reason, stop_reason } = await ask((token) => {
        const content = growing.push(token);
        if (content !== '') void chunk({ content });
      });
      const rest = growing.finish(reply.content);
      if (rest !== '') await chunk({ content: rest });
      if (reply.calls.length > 0) {
        await chunk({ tool_calls: reply.calls.map((call, index) => ({ index, ...call })) });
      }
      await chunk({}, { finish_reason, stop_reason });
      if (body.stream_options?.include_usage === true) await chunk({}, { usage }, false);
      await stream.writeSSE({ data: '[DONE]' });
    };
    return streamSSE(context, write, async (error, stream) => {
      const { message } = asRefusal(error) ?? error;
      await stream.writeSSE({ data: JSON.stringify({ error: { message } }) });
    });
  });
}

/** Text of tokens without the end of the turn. */
function decodeReply(engine: ServedEngine, tokens: Int32Array): string {
  const { processor } = engine.policy;
  return processor.decode(tokens.filter((token) => token !== processor.endOfTurn));
}

function finishOf(
  result: { readonly finish: string; readonly isAborted: boolean },
  { calls }: Reply,
): string {
  if (result.isAborted) return 'abort';
  if (calls.length > 0) return 'tool_calls';
  return result.finish === 'length' ? 'length' : 'stop';
}

function messageOf({ content, calls }: Reply) {
  if (calls.length === 0) return { role: 'assistant', content };
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
}

function logprobsOf(tokens: readonly number[], logprobs: Float32Array) {
  return tokens.map((token, index) => {
    return { token: `token_id:${token}`, logprob: logprobs[index], bytes: null, top_logprobs: [] };
  });
}
