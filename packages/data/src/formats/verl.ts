/** verl's Parquet: `messages` with `<image>` marks, `images` as structs of bytes, facts for rewards. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import { count, text } from '@saccade/core/settings';
import type { Message } from '@saccade/trajectory';
import type { AsyncBuffer, FileMetaData, SchemaElement } from 'hyparquet';
import { z } from 'zod';
import { type DialogSample, defineFormat, RowRefused, rowOf, writeRows } from './format.ts';
import { asPng, loadImage } from './image-files.ts';
import { MarkedImages, markedText } from './image-marks.ts';
import { type JsonRow, listIn, textIn, toolsIn } from './json-rows.ts';

/** Rows that are read into memory at a time. */
const CHUNK = 64;

export const verl = defineFormat({
  name: 'verl',
  description: 'verl’s Parquet for multi-turn training: messages, images and facts for rewards.',
  extensions: ['.parquet'],
  settings: z.strictObject({
    dataSource: text({
      default: 'saccade',
      unit: 'name',
      about: 'The field data_source of written rows, by which verl chooses a reward.',
    }),
    rowGroup: count({
      min: 1,
      max: 1_000_000,
      default: 64,
      unit: 'rows',
      about: 'Rows of a group, which is written and read at once.',
    }),
  }),
  async *read(path) {
    const { parquetReadObjects } = await import('hyparquet');
    const { compressors } = await import('hyparquet-compressors');
    const { file, metadata } = await open(path);
    const rows = Number(metadata.num_rows);
    for (let start = 0; start < rows; start += CHUNK) {
      const end = Math.min(rows, start + CHUNK);
      // Bytes stay bytes: images are binary columns.
      const read = parquetReadObjects({
        ...{ file, metadata, compressors, utf8: false, rowStart: start, rowEnd: end },
      });
      for (const [index, row] of ((await read) as JsonRow[]).entries()) {
        const number = start + index + 1;
        yield await rowOf(`${path}:${number}`, () => sampleOf(row, `row-${number}`, path));
      }
    }
  },
  async write(path, samples, { dataSource, rowGroup }) {
    await mkdir(dirname(path), { recursive: true });
    const { fileWriter, ParquetWriter } = await import('hyparquet-writer');
    const writer = new ParquetWriter({ writer: fileWriter(path), schema });
    let rows: Record<string, unknown>[] = [];
    const flush = async (): Promise<void> => {
      if (rows.length === 0) return;
      const columnData = columns.map((name) => ({ name, data: rows.map((row) => row[name]) }));
      await writer.write({ columnData, rowGroupSize: rows.length });
      rows = [];
    };
    const written = await writeRows(path, samples, async (sample) => {
      rows.push(rowFor(sample, dataSource));
      if (rows.length >= rowGroup) await flush();
    });
    await flush();
    await writer.finish();
    return written;
  },
});

async function open(path: string): Promise<{ file: AsyncBuffer; metadata: FileMetaData }> {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet');
  try {
    const file = await asyncBufferFromFile(path);
    return { file, metadata: await parquetMetadataAsync(file) };
  } catch (cause) {
    throw new DataError(`${path} is no Parquet file: ${messageOf(cause)}. Write it again.`, {
      cause,
    });
  }
}

async function sampleOf(row: JsonRow, fallback: string, path: string): Promise<DialogSample> {
  if (row.messages == null && row.prompt != null) {
    throw new RowRefused('it has a prompt and no messages: a task, not a trajectory');
  }
  const given = listIn(row.messages, 'messages') as readonly JsonRow[];
  const list = row.images == null ? [] : (listIn(row.images, 'images') as readonly JsonRow[]);
  const images = await Promise.all(list.map((image) => imageIn(image, path)));
  const marked = new MarkedImages(images);
  const messages = given.map((message, at) => messageIn(message, at, marked));
  marked.checkEnd();
  const info = (row.extra_info ?? {}) as JsonRow;
  const { ground_truth: answer } = (row.reward_model ?? {}) as JsonRow;
  return {
    id: typeof info.id === 'string' ? info.id : fallback,
    messages,
    ...toolsIn(row.tools),
    tags: {
      ...(typeof info.tags === 'string' && (JSON.parse(info.tags) as object)),
      ...(typeof info.question === 'string' && { question: info.question }),
      ...(typeof answer === 'string' && { answer }),
    },
  };
}

async function imageIn(image: JsonRow, path: string): Promise<Uint8Array> {
  if (image.bytes instanceof Uint8Array) return asPng(image.bytes);
  return loadImage(textIn(image.path ?? image.image, 'an image'), path);
}

const roles = ['system', 'user', 'assistant', 'tool'] as const;

function messageIn(message: JsonRow, at: number, marked: MarkedImages): Message {
  const role = roles.find((one) => one === message.role);
  if (role === undefined) {
    throw new RowRefused(`messages[${at}] has the role ${String(message.role)}`);
  }
  const calls = (message.tool_calls ?? []) as readonly JsonRow[];
  const content =
    message.content == null ? null : textIn(message.content, `messages[${at}].content`);
  return {
    role,
    content: content === null ? null : marked.content(content),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => {
        const { name, arguments: given } = (call.function ?? {}) as JsonRow;
        return {
          function: { name: textIn(name, 'a call'), arguments: textIn(given, 'arguments') },
        };
      }),
    }),
  };
}

function rowFor({ id, messages, tools, tags = {} }: DialogSample, source: string) {
  const { question, answer, ...rest } = tags;
  const images: { bytes: Uint8Array; path: null }[] = [];
  const onImage = (png: Uint8Array): number => images.push({ bytes: png, path: null });
  return {
    data_source: source,
    messages: messages.map((message) => {
      const calls = message.tool_calls ?? [];
      return {
        role: message.role === 'developer' ? 'system' : message.role,
        content: message.content == null ? null : markedText(message, onImage),
        tool_calls:
          calls.length === 0
            ? null
            : calls.map(({ function: { name, arguments: given } }) => ({
                type: 'function',
                function: {
                  name,
                  arguments: typeof given === 'string' ? given : JSON.stringify(given),
                },
              })),
      };
    }),
    images,
    tools: tools === undefined ? null : JSON.stringify(tools),
    ability: 'vision',
    reward_model: { style: 'rule', ground_truth: answer === undefined ? null : String(answer) },
    extra_info: {
      id,
      question: question === undefined ? null : String(question),
      tags: JSON.stringify(rest),
    },
  };
}

type Node = SchemaElement & { readonly children?: readonly Node[] };

const leaf = (name: string): Node => ({
  ...{ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
});
const group = (name: string, ...children: readonly Node[]): Node => ({
  ...{ name, repetition_type: 'OPTIONAL', children },
});
const list = (name: string, ...children: readonly Node[]): Node => ({
  ...{ name, repetition_type: 'OPTIONAL', converted_type: 'LIST' },
  children: [
    { name: 'list', repetition_type: 'REPEATED', children: [group('element', ...children)] },
  ],
});

/** The columns as pyarrow writes lists and structs. */
const fields: readonly Node[] = [
  leaf('data_source'),
  list(
    'messages',
    leaf('role'),
    leaf('content'),
    list('tool_calls', leaf('type'), group('function', leaf('name'), leaf('arguments'))),
  ),
  list('images', { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' }, leaf('path')),
  leaf('tools'),
  leaf('ability'),
  group('reward_model', leaf('style'), leaf('ground_truth')),
  group('extra_info', leaf('id'), leaf('question'), leaf('tags')),
];

/** Depth first, as Parquet lists a schema. */
function flat({ children, ...element }: Node): readonly SchemaElement[] {
  if (children === undefined) return [element];
  return [{ ...element, num_children: children.length }, ...children.flatMap(flat)];
}

const schema: SchemaElement[] = [
  { name: 'root', num_children: fields.length },
  ...fields.flatMap(flat),
];
const columns = fields.map(({ name }) => name);
