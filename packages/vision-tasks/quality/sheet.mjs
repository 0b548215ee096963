/** Parts of contact sheets: images of a task, and lines of text below them. */
import sharp from 'sharp';
import { typeface } from '../dist/rendering/typefaces.js';

export const GAP = 14;
const SIZE = 15;
export const LINE = SIZE * 1.35;
export const text = { typeface: typeface('roboto'), size: SIZE, color: '#000000' };

/** The lines of a text that fit a width in pixels. */
export function wrap(words, wide) {
  const lines = [''];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (text.typeface.widthOf(longer, SIZE) > wide) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Question and answer of a task in lines of a width; `remark` stands behind the answer. */
export function linesOf({ question, answer }, wide, remark) {
  // The typefaces here have no sign of an angle, and a line of the sheet has one line.
  const asked = question.replaceAll('∠', 'angle ').replaceAll('\n', '  ');
  return [...wrap(asked, wide), ...wrap(`= ${answer} ${remark}`.trim(), wide)];
}

/** A part of an image, as large as it is or scaled: `{ input, width, height }`. */
export async function scaled(png, [left, top, right, bottom], scale) {
  const [width, height] = [right - left, bottom - top].map((side) =>
    Math.max(1, Math.floor(side * scale)),
  );
  const input = await sharp(png)
    .extract({ left, top, width: right - left, height: bottom - top })
    .resize(width, height, { fit: 'fill' })
    .png()
    .toBuffer();
  return { input, width, height };
}

/** Puts rows of images, then lines of text, at a place: layers for sharp, and text on the drawing. */
export function place(sheet, { rows, lines }, x, y) {
  const layers = [];
  let top = y;
  for (const images of rows) {
    let left = x;
    for (const { input, width } of images) {
      layers.push({ input, left: Math.round(left), top: Math.round(top) });
      left += width + 4;
    }
    top += Math.max(...images.map(({ height }) => height)) + 4;
  }
  lines.forEach((line, row) => {
    sheet.text(line, x, top - 4 + (row + 1) * LINE, text);
  });
  return layers;
}

/** Width and height of rows of images and lines of text. */
export function extentOf({ rows, lines }) {
  const wide = rows.map((images) => images.reduce((sum, { width }) => sum + width + 4, -4));
  const tall = rows.map((images) => Math.max(...images.map(({ height }) => height)));
  const images = tall.reduce((sum, height) => sum + height + 4, -4);
  return { width: Math.max(...wide), height: images + (lines.length + 0.5) * LINE };
}
