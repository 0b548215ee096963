/** Drawings of the kinds of things of a split, as one who knows them remembers them. */
import sharp from 'sharp';
import { pictogramsOf } from '../dist/scenes/pictograms.js';

/** Side of a drawing in pixels. */
const SIDE = 80;

const sheets = new Map();

/** `{ kinds, drawings, masks }` of a split: drawings beside each other, and white where they paint. */
export async function drawingsOf(split) {
  if (!sheets.has(split)) sheets.set(split, await drawSheets(split));
  return sheets.get(split);
}

async function drawSheets(split) {
  const kinds = pictogramsOf(split);
  const layers = await Promise.all(
    kinds.map(async ({ body, view, painted: [left, top, right, bottom] }, index) => {
      const long = view * Math.max(right - left, bottom - top);
      const [x, y] = [(view * (left + right) - long) / 2, (view * (top + bottom) - long) / 2];
      const svg =
        `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
        `width="${SIDE}" height="${SIDE}" viewBox="${x} ${y} ${long} ${long}">${body}</svg>`;
      const input = await sharp(Buffer.from(svg)).png().toBuffer();
      return { input, left: index * SIDE, top: 0 };
    }),
  );
  const page = { width: SIDE * kinds.length, height: SIDE, channels: 4 };
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  const sheet = await sharp({ create: { ...page, background: clear } })
    .composite(layers)
    .png()
    .toBuffer();
  const drawings = { png: await sharp(sheet).removeAlpha().png().toBuffer() };
  const masks = { png: await sharp(sheet).extractChannel('alpha').png().toBuffer() };
  return { kinds: kinds.map(({ name, plural }) => ({ name, plural })), drawings, masks };
}
