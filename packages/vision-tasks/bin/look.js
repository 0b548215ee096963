/**
 * Writes contact sheets of tasks as PNG files: images, question, answer and required tools of each.
 *
 *   node packages/vision-tasks/bin/look.js [FAMILY] [SPLIT] [COUNT] [--first N] [--width PIXELS]
 *     [--height PIXELS] [--columns N] [--boxes] [--set NAME=VALUE ...] [--out FOLDER]
 *
 * Images have their real size and fill sheets of at most `--width` by `--height`; with `--columns`
 * they are shrunk so that so many stand beside each other. `--boxes` draws the evidence. `--set` gives
 * settings of the task set, such as `--set easiest=3`. Sheets are `FOLDER/FAMILY-SPLIT-FIRST.png`, where
 * FIRST is the index of the first task on it.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { visionTaskSets } from '@saccade/vision-tasks';
import sharp from 'sharp';
import { Drawing } from '../dist/rendering/drawing.js';
import { extentOf, GAP, linesOf, place } from '../quality/sheet.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    first: { type: 'string', default: '0' },
    width: { type: 'string', default: '2000' },
    height: { type: 'string', default: '2000' },
    columns: { type: 'string' },
    boxes: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: [] },
    out: { type: 'string', default: '.' },
  },
});
const [family = 'charts-qa', split = 'train', count = '20'] = positionals;
const width = Number(values.width);
const height = Number(values.height);
const columnWidth =
  values.columns === undefined
    ? undefined
    : Math.floor((width - GAP) / Number(values.columns)) - GAP;

const settings = values.set.map((each) => {
  const [name = '', value = ''] = each.split('=');
  return [name, Number.isNaN(Number(value)) ? value : Number(value)];
});
const taskSet = visionTaskSets.get(family).with(Object.fromEntries(settings));

/** The boxes of the evidence in one image of a task. */
function boxesIn({ metadata }, name) {
  return (metadata.evidence ?? []).flatMap((each) => {
    if (Array.isArray(each)) return [each];
    return each.image === undefined || each.image === name ? [each.box] : [];
  });
}

/** An image of a task with its evidence, shrunk to a width. */
async function shown(task, { name, png, width: wide, height: high }, most) {
  const frames = boxesIn(task, name).map(([left, top, right, bottom]) => {
    const size = `width="${right - left + 2}" height="${bottom - top + 2}"`;
    return `<rect x="${left - 1}" y="${top - 1}" ${size} fill="none" stroke="#ff00cc"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}">${frames.join('')}</svg>`;
  const framed = sharp(png).composite(values.boxes ? [{ input: Buffer.from(svg) }] : []);
  const scale = Math.min(1, most / wide);
  const input = await sharp(await framed.png().toBuffer())
    .resize(Math.floor(wide * scale), Math.floor(high * scale))
    .png()
    .toBuffer();
  return { input, width: Math.floor(wide * scale), height: Math.floor(high * scale) };
}

/** A task as it stands on a sheet: its images beside each other, and lines of text below. */
async function tileOf(task) {
  const most = ((columnWidth ?? Number.POSITIVE_INFINITY) - GAP) / task.images.length;
  const images = await Promise.all(task.images.map((image) => shown(task, image, most)));
  const wide = Math.max(
    320,
    images.reduce((sum, image) => sum + image.width + 4, 0),
  );
  const { difficulty, program, kind, requiredTools } = task.metadata;
  const facts = [`difficulty ${difficulty}`, kind, program?.operation, `needs ${requiredTools}`];
  const remark = `(${task.id.split('-').at(-1)}, ${facts.filter(Boolean).join(', ')})`;
  const tile = { rows: [images], lines: linesOf(task, wide, remark) };
  return { ...tile, wide, height: extentOf(tile).height };
}

/** Tiles in rows from left to right; a new sheet where the next row has no room. */
function sheetsOf(tiles) {
  const sheets = [];
  let [x, y, rowHeight] = [GAP, GAP, 0];
  tiles.forEach((tile, index) => {
    if (x > GAP && x + tile.wide + GAP > width) [x, y, rowHeight] = [GAP, y + rowHeight + GAP, 0];
    if (sheets.length === 0 || (y > GAP && y + tile.height + GAP > height)) {
      sheets.push({ first: Number(values.first) + index, placed: [] });
      [x, y, rowHeight] = [GAP, GAP, 0];
    }
    sheets.at(-1).placed.push({ ...tile, x, y });
    x += tile.wide + GAP;
    rowHeight = Math.max(rowHeight, tile.height);
  });
  return sheets;
}

async function drawSheet({ first, placed }) {
  const edge = (of) => Math.ceil(Math.max(...placed.map(of)) + GAP);
  const sheet = new Drawing(
    edge(({ x, wide }) => x + wide),
    edge((tile) => tile.y + tile.height),
    '#dddddd',
  );
  const layers = placed.flatMap((tile) => place(sheet, tile, tile.x, tile.y));
  const { png } = await sheet.toImage('sheet');
  const file = join(values.out, `${family}-${split}-${String(first).padStart(4, '0')}.png`);
  await sharp(png).composite(layers).png().toFile(file);
  console.log(file);
}

const tiles = [];
for (let index = 0; index < Number(count); index++) {
  tiles.push(await tileOf(await taskSet.task(split, Number(values.first) + index)));
}
for (const sheet of sheetsOf(tiles)) await drawSheet(sheet);
