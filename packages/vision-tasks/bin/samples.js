/**
 * Writes `quality/samples/FAMILY.webp`, which `quality/ceilings.md` shows: held-out tasks of a family with
 * question and answer.
 *
 *   node packages/vision-tasks/bin/samples.js [FAMILY ...] [--tasks N] [--out FOLDER]
 *
 * Without names all families are drawn. Of the first tasks those are taken whose kinds and operations differ.
 * Images are shrunk to columns. Where what decides is small, a part around it stands below. A film is shown
 * as frames at equal distances.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { visionTaskSets } from '@saccade/vision-tasks';
import sharp from 'sharp';
import { Drawing } from '../dist/rendering/drawing.js';
import { imagesOf } from '../quality/avi-frames.mjs';
import { extentOf, GAP, linesOf, place, scaled } from '../quality/sheet.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tasks: { type: 'string', default: '10' },
    out: { type: 'string', default: fileURLToPath(new URL('../quality/samples', import.meta.url)) },
  },
});
const COLUMNS = 3;
const COLUMN = 500;
/** Frames of a film, and how many stand beside each other. */
const [FRAMES, FRAMES_IN_ROW] = [12, 4];
/** Tallest image and tallest enlarged part, in pixels of the sheet. */
const [TALLEST, TALLEST_PART] = [420, 240];
/** A part is narrower and lower than this share of the image, and as wide and tall as the others. */
const [PART, LEAST_WIDTH, LEAST_HEIGHT] = [0.45, 0.3, 0.15];
/** Images that are larger than this many times the tallest have parts. */
const SHRUNK = 1.5;
/** Pixels of the image around what decides. */
const MARGIN = 24;
const LARGEST_BYTES = 300_000;

/** The first tasks of each kind and operation, then their second ones, and so on; in their order. */
async function chosen(taskSet, count) {
  const tasks = await Promise.all(
    Array.from({ length: 4 * count }, (_, index) => taskSet.task('heldOut', index)),
  );
  const counts = new Map();
  const ranked = tasks.map((task, index) => {
    const { kind, goal, program, difficulty } = task.metadata;
    const asks = program?.operation ?? `${goal?.startsWith('∠')} ${difficulty}`;
    const key = `${kind} ${asks}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return { task, index, rank: counts.get(key) };
  });
  const first = ranked.sort((a, b) => a.rank - b.rank || a.index - b.index).slice(0, count);
  return first.sort((a, b) => a.index - b.index).map(({ task }) => task);
}

/** A part of the images around what decides, or around the first of it; undefined where all is large. */
function partOf({ images: [{ width, height }], metadata }) {
  if (Math.max(width, height) < SHRUNK * TALLEST) return undefined;
  // In a turned image, where they lie there.
  const { box, evidence = [], boxInImage = box, evidenceInImage = evidence } = metadata;
  const [first] = evidenceInImage;
  const boxes = [boxInImage, Array.isArray(first) ? first : first?.box].filter(Boolean);
  const parts = boxes.map(([left, top, right, bottom]) => {
    const [x, wide] = span(left, right, width, LEAST_WIDTH);
    const [y, tall] = span(top, bottom, height, LEAST_HEIGHT);
    return [x, y, x + wide, y + tall];
  });
  return parts.find(
    ([x, y, right, bottom]) => right - x < PART * width && bottom - y < PART * height,
  );
}

/** Start and length of an interval with a margin, at least a share of the whole, and inside it. */
function span(from, to, whole, least) {
  const length = Math.min(whole, Math.round(Math.max(to - from + 2 * MARGIN, least * whole)));
  const start = Math.round((from + to - length) / 2);
  return [Math.min(whole - length, Math.max(0, start)), length];
}

/** Parts of all images of a task beside each other, within a width and a height. */
async function row({ images }, parts, tallest, enlargement) {
  const room = (COLUMN - 4 * (images.length - 1)) / images.length;
  return await Promise.all(
    images.map(({ png, width, height }) => {
      const part = parts ?? [0, 0, width, height];
      const [wide, tall] = [part[2] - part[0], part[3] - part[1]];
      return scaled(png, part, Math.min(enlargement, room / wide, tallest / tall));
    }),
  );
}

async function tileOf(task) {
  const { difficulty } = task.metadata;
  return { rows: await rowsOf(task), lines: linesOf(task, COLUMN, `(difficulty ${difficulty})`) };
}

async function rowsOf(task) {
  const images = imagesOf(task, FRAMES);
  if (images !== task.images) {
    const rows = [];
    for (let from = 0; from < images.length; from += FRAMES_IN_ROW) {
      rows.push(row({ images: images.slice(from, from + FRAMES_IN_ROW) }, undefined, TALLEST, 1));
    }
    return await Promise.all(rows);
  }
  const whole = await row(task, undefined, TALLEST, 1);
  const part = partOf(task);
  return part === undefined ? [whole] : [whole, await row(task, part, TALLEST_PART, 2)];
}

/** Each tile goes to the column that is shortest. */
async function drawSheet(tiles) {
  const ends = Array.from({ length: COLUMNS }, () => GAP);
  const placed = tiles.map((tile) => {
    const column = ends.indexOf(Math.min(...ends));
    const [x, y] = [GAP + column * (COLUMN + GAP), ends[column]];
    ends[column] += extentOf(tile).height + GAP;
    return { tile, x, y };
  });
  const sheet = new Drawing(
    GAP + COLUMNS * (COLUMN + GAP),
    Math.ceil(Math.max(...ends)),
    '#e4e4e4',
  );
  const layers = placed.flatMap(({ tile, x, y }) => place(sheet, tile, x, y));
  const { png } = await sheet.toImage('sheet');
  return await sharp(png).composite(layers).png().toBuffer();
}

/** The best WebP that is small enough for a page. */
async function compressed(png) {
  for (const quality of [85, 75, 65, 55, 45, 35]) {
    const webp = await sharp(png).webp({ quality, effort: 6 }).toBuffer();
    if (webp.length <= LARGEST_BYTES || quality === 35) return webp;
  }
}

await mkdir(values.out, { recursive: true });
const families = positionals.length > 0 ? positionals : visionTaskSets.names;
for (const family of families) {
  const tasks = await chosen(visionTaskSets.get(family), Number(values.tasks));
  const tiles = [];
  for (const task of tasks) tiles.push(await tileOf(task));
  const webp = await compressed(await drawSheet(tiles));
  const file = join(values.out, `${family}.webp`);
  await writeFile(file, webp);
  console.log(`${file}: ${Math.round(webp.length / 1000)} kB`);
}
