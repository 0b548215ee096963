/** ms-swift's JSON Lines: messages, and images in a list, each with `<image>` in a text. */
import type { Message } from '@saccade/trajectory';
import { z } from 'zod';
import { type DialogSample, defineFormat, writeRows } from './format.ts';
import { ImageFolder, loadImage } from './image-files.ts';
import {
  type JsonRow,
  listIn,
  openJsonRows,
  readJsonRows,
  tagsIn,
  textIn,
  toolsIn,
} from './json-rows.ts';
import { messagesOfTurns, roleTurns } from './role-rows.ts';

const names = {
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  call: 'tool_call',
  response: 'tool_response',
};

export const msSwift = defineFormat({
  name: 'ms-swift',
  description: 'ms-swift’s JSON Lines: messages, and images in a list beside them.',
  extensions: ['.jsonl', '.json'],
  settings: z.strictObject({}),
  read: (path) => readJsonRows(path, (row, id) => sampleOf(row, id, path)),
  async write(path, samples) {
    const folder = new ImageFolder(path);
    const file = await openJsonRows(path, !path.endsWith('.json'));
    try {
      return await writeRows(path, samples, async ({ id, messages, tools, tags }) => {
        const { turns, images } = roleTurns(messages, names);
        const kept = await Promise.all(images.map((png) => folder.keep(png)));
        await file.write({
          ...{ ...tags, id, messages: turns.map(({ role, text }) => ({ role, content: text })) },
          ...(kept.length > 0 && { images: kept }),
          ...(tools && { tools: JSON.stringify(tools) }),
        });
      });
    } finally {
      await file.close();
    }
  },
});

async function sampleOf(row: JsonRow, fallback: string, path: string): Promise<DialogSample> {
  const turns = (listIn(row.messages, 'messages') as readonly JsonRow[]).map((turn, at) => ({
    role: textIn(turn.role, `messages[${at}].role`),
    text: textIn(turn.content, `messages[${at}].content`),
  }));
  const images = await imagesIn(row.images, path);
  const messages: readonly Message[] = messagesOfTurns(turns, images, names);
  const id = typeof row.id === 'string' ? row.id : fallback;
  const known = ['id', 'messages', 'images', 'tools'];
  return { id, messages, ...toolsIn(row.tools), ...tagsIn(row, known) };
}

/** Images as paths, data URLs, or objects with one of them. */
export async function imagesIn(value: unknown, path: string): Promise<readonly Uint8Array[]> {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  return await Promise.all(
    list.map((image) => {
      const { path: at, bytes } = (typeof image === 'object' ? (image ?? {}) : {}) as JsonRow;
      if (typeof bytes === 'string') return loadImage(`data:image/png;base64,${bytes}`, path);
      return loadImage(textIn(typeof image === 'string' ? image : at, 'an image'), path);
    }),
  );
}
