// Compares Saccade's readers and writers with those of each format's own ecosystem: the same rows, pixels
// and order, in both directions. Prints one table, format × (read, write, resume, corrupt rows).
//
//   node packages/datasets/parity/check.mjs --python path/to/python
//
// The Python needs the packages of requirements.txt beside this file; one that is missing is said, and what
// it would have compared is left out.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { dataset, exportTasks, writers } from '@saccade/datasets';
import sharp from 'sharp';

const { values } = parseArgs({ options: { python: { type: 'string', default: 'python3' } } });
const here = dirname(import.meta.filename);
const folder = mkdtempSync(join(tmpdir(), 'saccade-parity-'));
const [ROWS, HELD_OUT] = [40, 8];

const python = (...args) =>
  execFileSync(values.python, [join(here, 'read.py'), ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HF_DATASETS_OFFLINE: '1', HF_HUB_OFFLINE: '1' },
  });
const rowsOf = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line));

async function imageOf(number, format = 'png') {
  const [width, height] = [40 + (number % 7), 30];
  const pixels = Buffer.from(
    Array.from({ length: 3 * width * height }, (_, i) => (i * (number + 3) + (i >> 5)) % 251),
  );
  return await sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format, { quality: 90 })
    .toBuffer();
}

const given = {
  name: 'given',
  description: 'Tasks of this check.',
  size: (split) => (split === 'train' ? ROWS : HELD_OUT),
  async task(split, index) {
    const png = await imageOf(index + (split === 'train' ? 0 : 1000));
    const { width, height } = await sharp(png).metadata();
    return {
      id: `given-${split}-${index}`,
      question: `Which "one", ${index}?\nÄ 東`,
      images: [{ name: 'image_clue_0', png, width, height }],
      answer: `a${index}`,
      metadata: { index },
    };
  },
};

async function rowOf({ id, question, answer, images: [image] }) {
  const { data, info } = await sharp(image.png)
    .flatten({ background: '#000' })
    .toColorspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const hash = createHash('sha256').update(data).digest('hex');
  return [id, question, answer, info.width, info.height, hash];
}

async function readOurs(from, changed = {}) {
  const unit = dataset.with({
    from,
    source: 'given',
    shuffleBytes: 0,
    heldOutShare: 0,
    epochs: 1,
    ...changed,
  });
  const taskSet = await unit.open({});
  const rows = [];
  for (let i = 0; i < taskSet.size('train'); i++)
    rows.push(await rowOf(await taskSet.task('train', i)));
  await taskSet.dispose();
  return rows;
}

const withoutIds = (rows) => rows.map((row) => row.slice(1));
const same = (a, b) =>
  a.length > 0 && JSON.stringify(withoutIds(a)) === JSON.stringify(withoutIds(b));

/** Reads half, opens again, and reads the rest. */
async function resumes(from) {
  const whole = await readOurs(from);
  const unit = dataset.with({ from, source: 'given', shuffleBytes: 0, heldOutShare: 0, epochs: 1 });
  const taskSet = await unit.open({});
  const rest = [];
  const middle = Math.floor(whole.length / 2);
  for (let i = middle; i < whole.length; i++)
    rest.push(await rowOf(await taskSet.task('train', i)));
  await taskSet.dispose();
  return same(rest, whole.slice(middle));
}

/** Damages one image or line, and says how many rows are left out by us and what the reference does. */
async function corrupt(format, from, reference) {
  const files = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes('train'))
    .sort();
  const path = ['parquet', 'webdataset'].includes(format)
    ? files.find((one) => /\.(parquet|tar)$/.test(one))
    : files.find((one) => one.endsWith('.png'));
  const bytes = readFileSync(path);
  const at = bytes.indexOf('IDAT');
  bytes.fill(0x55, at + 8, at + 28);
  writeFileSync(path, bytes);
  let count = 0;
  const unit = dataset.with({
    from,
    source: 'given',
    shuffleBytes: 0,
    heldOutShare: 0,
    epochs: 1,
    maxCorruptShare: 0.1,
  });
  const taskSet = await unit.open({
    onEvent: (event) => (count += event.kind === 'warning' ? 1 : 0),
  });
  for (let i = 0; i < taskSet.size('train'); i++) await taskSet.task('train', i);
  await taskSet.dispose();
  let theirs;
  try {
    theirs = `${reference()?.length ?? 0} rows`;
  } catch {
    theirs = 'stops with an exception';
  }
  return `${count} counted and named; reference ${theirs}`;
}

const versions = JSON.parse(python('versions'));
for (const [name, version] of Object.entries(versions))
  console.log(`${name} ${version ?? 'is not installed'}`);
const references = {
  csv: { datasets: (from) => rowsOf(python('datasets', 'csv', from)) },
  'image-folder': { datasets: (from) => rowsOf(python('datasets', 'image-folder', from)) },
  'json-lines': { datasets: (from) => rowsOf(python('datasets', 'json-lines', from)) },
  parquet: {
    datasets: (from) => rowsOf(python('datasets', 'parquet', from)),
    pyarrow: (from) => rowsOf(python('pyarrow', from)),
  },
  webdataset: {
    datasets: (from) => rowsOf(python('datasets', 'webdataset', from)),
    webdataset: (from) => rowsOf(python('webdataset', from)),
  },
};

let failures = 0;
const note = (isFine) => {
  if (!isFine) failures++;
  return isFine ? 'same' : 'DIFFERENT';
};
console.log(
  '\n| format | reference | write: read there | read: written here | resume | one damaged image |',
);
console.log('| --- | --- | --- | --- | --- | --- |');
for (const format of writers.names) {
  const from = join(folder, format);
  await exportTasks(given, {
    directory: from,
    writer: writers.get(format),
    counts: {},
    title: 'given',
  });
  const truth = [];
  for (let i = 0; i < ROWS; i++) truth.push(await rowOf(await given.task('train', i)));
  const ours = note(same(await readOurs(from), truth));
  const resumed = note(await resumes(from));
  const known = Object.entries(references[format]).filter(([name]) => versions[name] !== null);
  for (const [i, [name, read]] of known.entries()) {
    let written;
    try {
      written = note(same(read(from), truth));
    } catch (error) {
      failures++;
      written = `FAILED: ${String(error.stderr ?? error)
        .trim()
        .split('\n')
        .at(-1)}`;
    }
    const last = i === known.length - 1;
    const damaged = last ? await corrupt(format, from, () => read(from)) : '';
    console.log(
      `| ${format} | ${name} ${versions[name]} | ${written} | ${ours} | ${resumed} | ${damaged} |`,
    );
  }
}

// What pyarrow writes, with images of every format, is read here.
const images = join(folder, 'images');
mkdirSync(images);
const formats = ['png', 'jpeg', 'webp', 'gif'];
for (let i = 0; i < 32; i++) {
  const format = formats[i % formats.length];
  writeFileSync(join(images, `${String(i).padStart(3, '0')}.${format}`), await imageOf(i, format));
}
const codecs = ['none', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4'];
const theirs = rowsOf(python('write', join(folder, 'written'), images, codecs.join(',')));
console.log(
  '\n| Parquet written by pyarrow with | rows, texts, order | pixels: PNG | JPEG | WebP | GIF |',
);
console.log('| --- | --- | --- | --- | --- | --- |');
for (const codec of codecs) {
  const rows = await readOurs(join(folder, 'written', codec), { mapping: 'saccade' });
  const texts = (all) => JSON.stringify(all.map((row) => row.slice(1, 5)));
  const cells = formats.map((_, k) => {
    const of = (all) =>
      JSON.stringify(all.filter((_row, i) => i % formats.length === k).map((row) => row[5]));
    return note(of(rows) === of(theirs));
  });
  console.log(`| ${codec} | ${note(texts(rows) === texts(theirs))} | ${cells.join(' | ')} |`);
}
rmSync(folder, { recursive: true, force: true });
console.log(failures === 0 ? '\nAll equal.' : `\n${failures} differences.`);
process.exitCode = failures === 0 ? 0 : 1;
