import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeAvi, type Task } from '@saccade/gym';
import { parquetWriteFile } from 'hyparquet-writer';
import { beforeAll, describe, expect, it } from 'vitest';
import { schemaOf } from './parquet-schema.fixture.ts';
import { published } from './published.fixture.ts';
import { BYTES, IMAGE, type Published, SHA256 } from './published-row.fixture.ts';
import { mappings } from './reader-registry.ts';
import { image, temporaryFolder } from './samples.fixture.ts';
import { DataSource } from './sources/data-source.ts';
import { sourceSettings } from './sources/source-settings.ts';

const settings = (from: string, mapping: string, records: string | undefined) =>
  sourceSettings.parse({
    from,
    mapping,
    ...(records && { records }),
    heldOutShare: 0,
    maxCorruptShare: 0,
  });

let png: Uint8Array;
let hash: string;
let clip: Uint8Array;
beforeAll(async () => {
  png = await image(1);
  hash = createHash('sha256').update(png).digest('hex');
  const frame = { pixels: new Uint8Array(3 * 64 * 48), width: 64, height: 48 };
  clip = await encodeClip(frame);
});

/** One row in a folder as the set has it: JSON where rows name files, else Parquet. */
async function folderOf({ row, files = [], wrap }: Published): Promise<string> {
  const folder = await temporaryFolder();
  for (const file of files) {
    const path = join(folder, file.replace(SHA256, hash));
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, /\.(avi|mp4)$/.test(file) ? clip : png);
  }
  if (wrap !== undefined) {
    await writeFile(join(folder, 'rows.json'), JSON.stringify(wrap(row)));
    return folder;
  }
  const real = (value: unknown): unknown => {
    if (value === IMAGE) return { bytes: png, path: null };
    if (value === BYTES) return png;
    if (value === SHA256) return hash;
    if (value === 'base64') return Buffer.from(png).toString('base64');
    return Array.isArray(value) ? value.map(real) : value;
  };
  const columnData = Object.entries(row).map(([name, value]) => ({ name, data: [real(value)] }));
  parquetWriteFile({
    filename: join(folder, 'train-00000-of-00001.parquet'),
    columnData,
    schema: schemaOf(columnData.map(({ name, data }) => [name, data[0]])),
  });
  return folder;
}

async function encodeClip(frame: {
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
}): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const { pixels, width, height } = frame;
  const jpeg = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
  return encodeAvi([jpeg, jpeg], { width, height, framesPerSecond: 5 });
}

describe('mappings', () => {
  it('are each tested on rows of their set', () => {
    expect(Object.keys(published).sort()).toEqual([...mappings.names]);
  });

  it.each(Object.keys(published))('%s reads the columns of its set', async (name) => {
    const set = published[name] as Published;
    const source = await DataSource.open(settings(await folderOf(set), name, set.records));
    const task = (await source.mapped('train', 0)) as Task;
    await source.dispose();
    if (typeof set.question === 'string') expect(task.question).toBe(set.question);
    else expect(task.question).toMatch(set.question);
    expect(task.answer).toBe(set.answer);
    expect(task.images.length).toBe(set.images);
    if (set.images === 0) {
      expect(task.videos).toMatchObject([
        { width: 64, height: 48, framesPerSecond: 5, frameCount: 2 },
      ]);
    }
    expect(task.metadata).toMatchObject({ source: name, ...set.metadata });
  });
});
