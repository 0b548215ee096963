import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ConfigError, DataError, MissingError, type RunEvent } from '@saccade/core';
import { openFakeHub } from '@saccade/hub/fake-hub';
import { parquetWriteFile } from 'hyparquet-writer';
import sharp from 'sharp';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { toPng } from './images/to-png.ts';
import { image, temporaryFolder } from './samples.fixture.ts';
import { DataSource } from './sources/data-source.ts';
import { sourceSettings } from './sources/source-settings.ts';

const events: RunEvent[] = [];
const open = (from: string, changed: object = {}) =>
  DataSource.open(sourceSettings.parse({ from, name: 'set', heldOutShare: 0, ...changed }), {
    onEvent: (event) => events.push(event),
  });

/** A mapping of rows that are text alone. */
async function textMapping(): Promise<string> {
  const path = join(await temporaryFolder(), 'mine.yaml');
  await writeFile(path, 'question: question\nanswer: answer\n');
  return path;
}

async function fileOf(name: string, contents: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, contents);
  return path;
}

async function parquetOf(rows: number): Promise<string> {
  const filename = join(await temporaryFolder(), 'rows.parquet');
  const texts = (word: string) => Array.from({ length: rows }, (_, i) => `${word} ${i}`);
  parquetWriteFile({
    filename,
    columnData: [
      { name: 'question', data: texts('q'), type: 'STRING' },
      { name: 'answer', data: texts('a'), type: 'STRING' },
    ],
    rowGroupSize: 50,
  });
  return filename;
}

async function tarOf(names: readonly string[]): Promise<Uint8Array> {
  const tar = pack();
  for (const name of names) tar.entry({ name }, '{}');
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

describe('one clear error', () => {
  it('for a column that the data does not have, with those that it has', async () => {
    const path = await parquetOf(3);
    const failed = open(path, { mapping: 'chartqa' });
    await expect(failed).rejects.toThrow(ConfigError);
    await expect(failed).rejects.toThrow(
      /taskSet.mapping: chartqa reads text from the column "query".* It has question, answer/,
    );
  });

  it('for a column of another type, with what the first rows have', async () => {
    const path = await fileOf('rows.jsonl', '{"question":["a"],"answer":"b"}\n'.repeat(3));
    const failed = open(path, { mapping: await textMapping() });
    await expect(failed).rejects.toThrow(
      /mine expects text \(string, number, boolean\) at "question", and the first 3 rows have list/,
    );
  });

  it('for a Parquet file that is not whole', async () => {
    const path = await parquetOf(500);
    const bytes = await readFile(path);
    for (const length of [0, 3, 100, bytes.length - 1]) {
      const failed = open(await fileOf('cut.parquet', bytes.subarray(0, length)));
      await expect(failed).rejects.toThrow(DataError);
      await expect(failed).rejects.toThrow(/cut.parquet is no whole Parquet file: .*Download/);
    }
  });

  it('for a tar that would write outside of its folder, and for one that is compressed', async () => {
    const evil = await fileOf('evil.tar', await tarOf(['a.json', '../../etc/cron.d/x.json']));
    await expect(open(evil)).rejects.toThrow(/has a member "\.\.\/\.\.\/etc.*leaves the folder/);
    const packed = await fileOf('packed.tar', Uint8Array.of(0x1f, 0x8b, ...new Array(600).fill(0)));
    await expect(open(packed)).rejects.toThrow(/is compressed.*gunzip/);
  });

  it('for a missing shard, by its number', async () => {
    const folder = await temporaryFolder();
    for (const shard of ['00000', '00002']) {
      await writeFile(join(folder, `train-${shard}-of-00003.jsonl`), '{}\n');
    }
    await expect(open(folder)).rejects.toThrow(/The shard 00001 of 3 of \.\/train-\* is missing/);
  });

  it('for a path that is not there, a folder of nothing, and a hub that cannot be reached', async () => {
    await expect(open('owner/name')).rejects.toThrow(/write hf:datasets\/owner\/name/);
    await expect(open(await temporaryFolder())).rejects.toThrow(/has no file that a reader takes/);
    const hub = await openFakeHub({ name: 'a/b', commit: 'c', revisions: [], files: new Map() });
    await hub.close();
    const cacheDirectory = await temporaryFolder();
    const failed = DataSource.open(sourceSettings.parse({ from: 'hf:datasets/a/b' }), {
      hub: { cacheDirectory, endpoint: hub.url, isOffline: false, retryMilliseconds: 1 },
    });
    await expect(failed).rejects.toThrow(MissingError);
    await expect(failed).rejects.toThrow(/cannot be reached for a\/b .*HF_HUB_OFFLINE/);
  });

  it('for a mapping of one’s own that is none', async () => {
    const path = await fileOf('rows.jsonl', '{"question":"a","answer":"b"}\n');
    const wrong = await fileOf('wrong.yaml', 'question: question\nanswer: { value: answer, as: x }\n');
    await expect(open(path, { mapping: wrong })).rejects.toThrow(/wrong.yaml: answer/);
    const cut = await fileOf('cut.yaml', 'question: [');
    await expect(open(path, { mapping: cut })).rejects.toThrow(/is no YAML or JSON/);
    expect(() => sourceSettings.parse({})).toThrow();
  });
});

describe('rows that are corrupt', () => {
  it('are counted and named, replaced by the next, and fatal above the share', async () => {
    const lines = Array.from({ length: 200 }, (_, i) =>
      i === 70 ? '{"question": broken' : JSON.stringify({ question: `q ${i}`, answer: `${i}` }),
    );
    const path = await fileOf('rows.jsonl', `${lines.join('\n')}\n`);
    const mapping = await textMapping();
    events.length = 0;
    const source = await open(path, { mapping });
    const [before, bad] = [await source.task('train', 69), await source.task('train', 70)];
    expect([before.answer, bad.answer]).toEqual(['69', '71']);
    expect(bad.id).toBe('set-train-000070');
    expect([...source.corrupt.problems.keys()]).toEqual(['rows.jsonl#70']);
    expect(events).toMatchObject([
      { kind: 'warning', message: expect.stringMatching(/rows.jsonl#70 is left out: is no valid JSON/) },
    ]);
    await source.dispose();
    const strict = await open(path, { mapping, maxCorruptShare: 0 });
    await expect(strict.task('train', 70)).rejects.toThrow(
      /1 of 200 rows of set cannot be used.*maxCorruptShare.*rows.jsonl#70/,
    );
    await strict.dispose();
  });

  it('in Parquet are those of the damaged page alone', async () => {
    const path = await parquetOf(500);
    const bytes = await readFile(path);
    // The first pages lie at the beginning: those of the first row group.
    bytes.fill(0xff, 8, 40);
    const damaged = await fileOf('damaged.parquet', bytes);
    const source = await open(damaged, { mapping: await textMapping(), maxCorruptShare: 0.2 });
    expect((await source.task('train', 499)).answer).toBe('a 499');
    expect((await source.task('train', 0)).answer).toBe('a 50');
    expect(source.corrupt.problems.size).toBe(50);
    await source.dispose();
  });

  it('in a tar are those of the damaged header alone', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `s${i}.json`);
    const bytes = Buffer.from(await tarOf(names));
    bytes.fill(0x41, 10 * 1024, 10 * 1024 + 200);
    const path = await fileOf('damaged.tar', bytes);
    const folder = await fileOf('map.yaml', 'question: __key__\nanswer: __key__\n');
    const source = await open(path, { mapping: folder, maxCorruptShare: 0.5 });
    const found = [];
    for (let i = 0; i < source.size('train'); i++) found.push(await source.mapped('train', i));
    const keys = found.flatMap((task) => (typeof task === 'string' ? [] : [task.answer]));
    expect(keys).toEqual(names.map((name) => name.slice(0, -5)).filter((key) => key !== 's10'));
    expect(source.corrupt.problems.size).toBe(1);
    await source.dispose();
  });

  it('of files are those that leave the folder, are absent, or are addresses', async () => {
    const rows = ['../../etc/passwd', '/etc/passwd', 'none.png', 'http://127.0.0.1/x.png', 'a.png'];
    const path = await fileOf(
      'rows.jsonl',
      rows.map((images) => `${JSON.stringify({ question: 'q', answer: 'a', images })}\n`).join(''),
    );
    await writeFile(join(path, '..', 'a.png'), await image(1));
    const mapping = await fileOf('m.json', '{"question":"question","answer":"answer","images":"images"}');
    const source = await open(path, { mapping, maxCorruptShare: 1 });
    expect((await source.task('train', 0)).images.length).toBe(1);
    expect([...source.corrupt.problems.values()].join('\n')).toMatch(
      /leaves the data set's folder\n.*leaves the data set's folder\n.*no file "none.png"\n.*is an address/,
    );
    await source.dispose();
  });
});

describe('toPng', () => {
  it('reads each format, and the first frame of a GIF', async () => {
    const still = await sharp(await image(3)).raw().toBuffer();
    for (const format of ['png', 'webp', 'gif', 'jpeg'] as const) {
      const { png, width, height } = await toPng(await image(3, format), { maxPixels: 1e6 });
      expect([width, height]).toEqual([24, 16]);
      const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
      expect(info.format).toBe('raw');
      if (format === 'png') expect(data.equals(still)).toBe(true);
    }
  });

  it('turns as the EXIF orientation says', async () => {
    const turned = await sharp(await image(3)).jpeg({ quality: 100 }).withMetadata({ orientation: 6 }).toBuffer();
    expect(await toPng(turned, { maxPixels: 1e6 })).toMatchObject({ width: 16, height: 24 });
    const upright = await sharp(turned).rotate(90).raw().toBuffer();
    expect(upright.length).toBe(3 * 16 * 24);
  });

  it('refuses HEIC and other formats in words, and what is no image', async () => {
    const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic'), Buffer.alloc(16)]);
    await expect(toPng(heic, { maxPixels: 1e6 })).rejects.toThrow(/is HEIC.*heif-convert/);
    await expect(toPng(Buffer.from('<svg></svg>'), { maxPixels: 1e6 })).rejects.toThrow(/is SVG/);
    await expect(toPng(Buffer.from('BM1234'), { maxPixels: 1e6 })).rejects.toThrow(/is BMP/);
    await expect(toPng(Buffer.from('hello'), { maxPixels: 1e6 })).rejects.toThrow(/of no known format/);
    await expect(toPng(Buffer.alloc(0), { maxPixels: 1e6 })).rejects.toThrow(/is empty/);
  });

  it('refuses a decompression bomb by its header, before memory is taken', async () => {
    // A PNG of 30000 × 30000 zeros takes 2.7 MB; its header is enough.
    const header = Buffer.from(await image(1));
    header.writeUInt32BE(30_000, 16);
    header.writeUInt32BE(30_000, 20);
    header.writeUInt32BE(crc32(header.subarray(12, 29)), 29);
    const before = process.memoryUsage().rss;
    await expect(toPng(header, { maxPixels: 2 ** 26 })).rejects.toThrow(
      /30000×30000 pixels, and at most 67108864 are decoded/,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  it('refuses an image that is cut', async () => {
    for (const format of ['png', 'jpeg', 'webp', 'gif'] as const) {
      const whole = await image(2, format, 240, 160);
      const cut = whole.subarray(0, Math.floor(whole.length * 0.6));
      await expect(toPng(cut, { maxPixels: 1e6 }), format).rejects.toThrow(DataError);
    }
  });
});
