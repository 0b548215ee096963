/** OpenAI's chat JSON, as fine-tuning files have it: messages with tools and images. */
import { choice } from '@saccade/core/settings';
import type { Message, MessagePart, MessageToolCall } from '@saccade/trajectory';
import { z } from 'zod';
import { type DialogSample, defineFormat, RowRefused, writeRows } from './format.ts';
import { ImageFolder, loadImage, pngUrl } from './image-files.ts';
import { partsOf } from './image-marks.ts';
import {
  type JsonRow,
  listIn,
  openJsonRows,
  readJsonRows,
  tagsIn,
  textIn,
  toolsIn,
} from './json-rows.ts';

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

export const openai = defineFormat({
  name: 'openai',
  description: 'OpenAI’s chat JSON Lines: messages with tools and images.',
  extensions: ['.jsonl', '.json'],
  settings: z.strictObject({
    images: choice(['files', 'inline'], {
      default: 'files',
      about: 'Whether written images are files beside it, or data URLs in it.',
    }),
  }),
  read: (path) => readJsonRows(path, (row, id) => sampleOf(row, id, path)),
  async write(path, samples, { images }) {
    const folder = new ImageFolder(path);
    const file = await openJsonRows(path, !path.endsWith('.json'));
    const urlOf =
      images === 'inline' ? async (png: Uint8Array) => pngUrl(png) : folder.keep.bind(folder);
    try {
      return await writeRows(path, samples, async ({ id, messages, tools, tags }) => {
        const written = await Promise.all(messages.map((message) => messageJson(message, urlOf)));
        await file.write({ ...tags, id, messages: written, ...(tools && { tools }) });
      });
    } finally {
      await file.close();
    }
  },
});

async function sampleOf(row: JsonRow, fallback: string, path: string): Promise<DialogSample> {
  const given = listIn(row.messages, 'messages') as readonly JsonRow[];
  const messages = await Promise.all(given.map((message, at) => messageOf(message, at, path)));
  if (!messages.some(({ role }) => role === 'assistant')) {
    throw new RowRefused('no message is the assistant’s');
  }
  const id = typeof row.id === 'string' ? row.id : fallback;
  return { id, messages, ...toolsIn(row.tools), ...tagsIn(row, ['id', 'messages', 'tools']) };
}

async function messageOf(row: JsonRow, at: number, path: string): Promise<Message> {
  const role = roles.find((one) => one === row.role);
  if (role === undefined) throw new RowRefused(`messages[${at}] has the role ${String(row.role)}`);
  const { content, tool_calls: calls, tool_call_id: answered, result } = row;
  return {
    role,
    content:
      content === null || content === undefined || typeof content === 'string'
        ? (content ?? null)
        : await Promise.all(
            listIn(content, `messages[${at}].content`).map((part) => partOf(part as JsonRow, path)),
          ),
    ...(Array.isArray(calls) && { tool_calls: calls.map((call) => callOf(call as JsonRow)) }),
    ...(typeof answered === 'string' && { tool_call_id: answered }),
    ...(typeof result === 'object' && result !== null && { result }),
  };
}

async function partOf(part: JsonRow, path: string): Promise<MessagePart> {
  if (part.type === 'text') return { type: 'text', text: textIn(part.text, 'a text') };
  if (part.type !== 'image_url' && part.type !== 'image') {
    throw new RowRefused(`a part of type ${String(part.type)} cannot be expressed`);
  }
  const given = part.type === 'image' ? part.image : part.image_url;
  const url =
    typeof given === 'string' ? given : textIn((given as JsonRow | null)?.url, 'an image');
  const name = typeof part.name === 'string' ? { name: part.name } : {};
  return { type: 'image', image: await loadImage(url, path), ...name };
}

function callOf({ id, function: called }: JsonRow): MessageToolCall {
  const { name, arguments: given } = (called ?? {}) as JsonRow;
  return {
    ...(typeof id === 'string' && { id }),
    function: {
      name: textIn(name, 'the name of a call'),
      arguments:
        typeof given === 'object' && given !== null
          ? (given as JsonRow)
          : textIn(given, 'arguments'),
    },
  };
}

async function messageJson(
  message: Message,
  urlOf: (png: Uint8Array) => Promise<string>,
): Promise<object> {
  const parts = partsOf(message);
  const isText = parts.every(({ type }) => type === 'text');
  const content = isText
    ? parts.length === 0
      ? (message.content ?? null)
      : parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    : await Promise.all(
        parts.map(async (part) => {
          if (part.type !== 'image') return part;
          const url = await urlOf(part.image);
          return { type: 'image_url', image_url: { url }, ...(part.name && { name: part.name }) };
        }),
      );
  const calls = (message.tool_calls ?? []).map((call, index) => ({
    id: call.id ?? `call-${index}`,
    type: 'function',
    function: {
      name: call.function.name,
      arguments:
        typeof call.function.arguments === 'string'
          ? call.function.arguments
          : JSON.stringify(call.function.arguments),
    },
  }));
  return {
    role: message.role,
    content: Array.isArray(content) && content.length === 0 ? '' : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(message.tool_call_id !== undefined && { tool_call_id: message.tool_call_id }),
    ...(message.result && { result: message.result }),
  };
}
