/** Answers count-and-find with drawings of the kinds that it knows, and the signs that EasyOCR reads. */
import sharp from 'sharp';
import { pictogramsOf } from '../../dist/scenes/pictograms.js';

export const uses =
  'crops compared with drawings of the kinds, as one who knows them compares; OCR of signs (`easyocr`)';
export const tools = [];

export const questionType = ({ metadata }) => metadata.program.operation;

/** Side of a drawing in pixels. */
const SIDE = 80;

const sheets = new Map();

/** The drawings of a split beside each other, and white where they paint. */
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

/** The answer as `quality/python/find_pictograms.py` finds it. */
export async function answer({ question, images }, eyes) {
  // What the held-out kinds look like is knowledge of the one who looks, not of the task.
  if (sheets.size === 0) sheets.set('heldOut', await drawSheets('heldOut'));
  const { kinds, drawings, masks } = sheets.get('heldOut');
  const given = [...images, drawings, masks];
  return (await eyes.python('find_pictograms', { question, kinds }, given)) ?? undefined;
}
