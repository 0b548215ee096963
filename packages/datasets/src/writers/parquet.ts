/** Parquet as Hugging Face's viewer opens it: images as structs, features in the file's metadata. */
import type { Task } from '@saccade/gym';
import type { SchemaElement } from 'hyparquet';
import type { ParquetWriter } from 'hyparquet-writer';
import { defineWriter } from '../writer.ts';
import { plainRow } from './plain-row.ts';
import { Shards } from './shards.ts';

/** Rows of a group: the viewer and readers by rows decode one at a time. */
const GROUP_ROWS = 100;
/** Bytes of a group, for rows with large images. */
const GROUP_BYTES = 2 ** 26;

const text = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
});

/** The columns: texts, and a list of structs of bytes and path. */
const SCHEMA: SchemaElement[] = [
  { name: 'root', num_children: 5 },
  text('id'),
  { name: 'images', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  { name: 'element', num_children: 2, repetition_type: 'OPTIONAL' },
  { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
  text('path'),
  text('question'),
  text('answer'),
  text('metadata'),
];

const value = (dtype: string) => ({ dtype, _type: 'Value' });

/** What `datasets` reads to know that a struct is an image. */
const FEATURES = JSON.stringify({
  info: {
    features: {
      id: value('string'),
      images: { feature: { _type: 'Image' }, _type: 'List' },
      question: value('string'),
      answer: value('string'),
      metadata: value('string'),
    },
  },
});

export const parquet = defineWriter({
  name: 'parquet',
  description: 'Parquet shards with image structs, as the viewer of Hugging Face opens them.',
  async write(tasks, { directory, split, maxShardBytes }) {
    const hyparquet = await import('hyparquet-writer');
    const shards = new Shards(directory, `data/${split}`, 'parquet');
    let [rowCount, shardBytes, groupBytes] = [0, 0, 0];
    let writer: ParquetWriter | undefined;
    let group: Task[] = [];
    const flush = async (): Promise<void> => {
      if (group.length === 0) return;
      writer ??= new hyparquet.ParquetWriter({
        writer: hyparquet.fileWriter(await shards.next()),
        schema: SCHEMA,
        kvMetadata: [{ key: 'huggingface', value: FEATURES }],
        createdBy: 'Saccade',
        // Bounds of images and questions help no one to find a row.
        statistics: false,
      });
      await writer.write({ columnData: columnsOf(group), rowGroupSize: group.length });
      shardBytes += groupBytes;
      group = [];
      groupBytes = 0;
    };
    const close = async (): Promise<void> => {
      await flush();
      await writer?.finish();
      writer = undefined;
      shardBytes = 0;
    };
    for await (const task of tasks) {
      const bytes = task.images.reduce((sum, { png }) => sum + png.length, 0);
      if (shardBytes + groupBytes > 0 && shardBytes + groupBytes + bytes > maxShardBytes)
        await close();
      group.push(task);
      groupBytes += bytes;
      rowCount++;
      if (group.length >= GROUP_ROWS || groupBytes >= GROUP_BYTES) await flush();
    }
    await close();
    return await shards.finish(rowCount);
  },
});

function columnsOf(tasks: readonly Task[]) {
  const rows = tasks.map(plainRow);
  const images = tasks.map((task) =>
    task.images.map(({ name, png }) => ({ bytes: png, path: `${task.id}-${name}.png` })),
  );
  return [
    { name: 'id', data: rows.map(({ id }) => id) },
    { name: 'images', data: images, encoding: 'PLAIN' as const },
    { name: 'question', data: rows.map(({ question }) => question) },
    { name: 'answer', data: rows.map(({ answer }) => answer) },
    { name: 'metadata', data: rows.map(({ metadata }) => metadata) },
  ];
}
