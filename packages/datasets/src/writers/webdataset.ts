/** WebDataset: tar shards of `key.json` and the images of each task. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Task } from '@saccade/gym';
import type { Pack } from 'tar-stream';
import { defineWriter } from '../writer.ts';
import { fileName } from './folder-images.ts';
import { plainRow } from './plain-row.ts';
import { Shards } from './shards.ts';

export const webdataset = defineWriter({
  name: 'webdataset',
  description: 'Tar shards of samples: key.0.png, key.1.png, …, key.json.',
  async write(tasks, { directory, split, maxShardBytes }) {
    const { pack } = await import('tar-stream');
    const shards = new Shards(directory, split, 'tar');
    let [rowCount, bytes] = [0, 0];
    let open: { readonly tar: Pack; readonly written: Promise<void> } | undefined;
    const close = async (): Promise<void> => {
      open?.tar.finalize();
      await open?.written;
      open = undefined;
      bytes = 0;
    };
    for await (const task of tasks) {
      const size = task.images.reduce((sum, { png }) => sum + png.length, 0);
      if (bytes > 0 && bytes + size > maxShardBytes) await close();
      if (open === undefined) {
        const tar = pack();
        open = { tar, written: pipeline(tar, createWriteStream(await shards.next())) };
      }
      await addSample(open.tar, task);
      bytes += size;
      rowCount++;
    }
    await close();
    return await shards.finish(rowCount);
  },
});

async function addSample(tar: Pack, task: Task): Promise<void> {
  // Dots end the key of a sample.
  const key = fileName(task.id).replaceAll('.', '_');
  const { metadata, ...row } = plainRow(task);
  const fields = { ...row, metadata: JSON.parse(metadata) };
  for (const [i, { png }] of task.images.entries()) await add(tar, `${key}.${i}.png`, png);
  await add(tar, `${key}.json`, Buffer.from(JSON.stringify(fields)));
}

function add(tar: Pack, name: string, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // A date of its own would make every export another file.
    const entry = { name, size: bytes.length, mtime: new Date(0) };
    tar.entry(entry, Buffer.from(bytes), (error) => (error ? reject(error) : resolve()));
  });
}
