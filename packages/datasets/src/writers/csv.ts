/** CSV, with images as files beside it. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { defineWriter } from '../writer.ts';
import { writeImages } from './folder-images.ts';
import { plainRow } from './plain-row.ts';
import { Shards } from './shards.ts';

/** A cell in quotes, as RFC 4180 has it. */
const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

export const csv = defineWriter({
  name: 'csv',
  description: 'Rows of text under a header, with the images in a folder.',
  async write(tasks, { directory, split }) {
    const shards = new Shards(directory, split, 'csv');
    let rowCount = 0;
    const lines = async function* (): AsyncGenerator<string> {
      yield 'id,images,question,answer,metadata\n';
      for await (const task of tasks) {
        const names = await writeImages(directory, `images/${split}`, task, rowCount);
        const { id, question, answer, metadata } = plainRow(task);
        const images = names.length === 1 ? (names[0] ?? '') : JSON.stringify(names);
        rowCount++;
        yield `${[id, images, question, answer, metadata].map(cell).join(',')}\n`;
      }
    };
    await pipeline(lines(), createWriteStream(await shards.next()));
    return await shards.finish(rowCount);
  },
});
