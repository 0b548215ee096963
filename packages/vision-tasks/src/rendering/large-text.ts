/** A line of large text as a bitmap: letters of hundreds of pixels are drawn one line at a time. */
import type { Bitmap } from './canvas.ts';
import type { Color } from './page.ts';
import type { Typeface } from './typefaces.ts';

/** A line of text, 1.3 times as high as its font size, with its baseline at 0.95 of it. */
export async function largeText(
  text: string,
  { outline, widthOf }: Typeface,
  size: number,
  color: Color,
): Promise<Bitmap> {
  const { default: sharp } = await import('sharp');
  const [width, height] = [Math.ceil(widthOf(text, size)) + 4, Math.ceil(size * 1.3)];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" fill="#fff">` +
    `<path d="${outline(text, 2, size * 0.95, size)}"/></svg>`;
  const cover = await sharp(Buffer.from(svg))
    .flatten({ background: '#000' })
    .extractChannel(0)
    .raw()
    .toBuffer();
  const pixels = new Uint8Array(width * height * 3);
  for (let at = 0; at < width * height; at++) pixels.set(color, at * 3);
  return { width, height, pixels, cover };
}
