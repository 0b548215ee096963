/** JSON Lines, with images as files beside them. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { defineWriter } from '../writer.ts';
import { writeImages } from './folder-images.ts';
import { plainRow } from './plain-row.ts';
import { Shards } from './shards.ts';

export const jsonLines = defineWriter({
  name: 'json-lines',
  description: 'One JSON object a line, with the images in a folder.',
  async write(tasks, { directory, split }) {
    const shards = new Shards(directory, split, 'jsonl');
    let rowCount = 0;
    const lines = async function* (): AsyncGenerator<string> {
      for await (const task of tasks) {
        const images = await writeImages(directory, `images/${split}`, task, rowCount);
        const { metadata, ...row } = plainRow(task);
        rowCount++;
        yield `${JSON.stringify({ ...row, images, metadata: JSON.parse(metadata) })}\n`;
      }
    };
    await pipeline(lines(), createWriteStream(await shards.next()));
    return await shards.finish(rowCount);
  },
});
