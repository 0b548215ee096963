/** An image folder: images, and metadata.jsonl that names the first of each task. */
import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DataError } from '@saccade/core';
import { defineWriter } from '../writer.ts';
import { writeImages } from './folder-images.ts';
import { plainRow } from './plain-row.ts';

export const imageFolder = defineWriter({
  name: 'image-folder',
  description: 'Images in a folder with metadata.jsonl; one image a task.',
  async write(tasks, { directory, split }) {
    const folder = join(directory, split);
    await mkdir(folder, { recursive: true });
    const path = join(folder, 'metadata.jsonl');
    let rowCount = 0;
    const lines = async function* (): AsyncGenerator<string> {
      for await (const task of tasks) {
        if (task.images.length !== 1) {
          throw new DataError(
            `The task ${task.id} has ${task.images.length} images, and a row of an image folder has ` +
              'one. Export to parquet.',
          );
        }
        const [file] = await writeImages(folder, 'images', task, rowCount);
        const { metadata, ...row } = plainRow(task);
        rowCount++;
        yield `${JSON.stringify({ file_name: file, ...row, metadata: JSON.parse(metadata) })}\n`;
      }
    };
    await pipeline(lines(), createWriteStream(path));
    const sizeBytes = (await stat(path)).size;
    const name = `${split}/metadata.jsonl`;
    return { files: [name], rowCount, sizeBytes, pattern: `${split}/**` };
  },
});
