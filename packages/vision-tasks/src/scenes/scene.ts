/** A scene: pictograms and signs at known places on a photograph. */
import type { Box, TaskImage } from '@saccade/gym';
import sharp from 'sharp';
import type { Typeface } from '../rendering/typefaces.ts';
import type { Background } from './photographs.ts';
import type { Pictogram } from './pictograms.ts';

/** A pictogram in a scene. */
export interface SceneItem {
  readonly pictogram: Pictogram;
  /** Center of what it paints; pixels. */
  readonly x: number;
  readonly y: number;
  /** Longer side of what it paints; pixels. */
  readonly size: number;
  readonly isMirrored: boolean;
  /** Degrees clockwise. */
  readonly turn: 0 | 90 | 180 | 270;
  /** Turn of the hue in degrees. */
  readonly hue: number;
}

/** A white board with a few characters. */
export interface SceneSign {
  readonly text: string;
  /** Its outer edge; whole pixels. */
  readonly box: Box;
  readonly typeface: Typeface;
}

/** A photograph with the items and signs that lie on it. */
interface Scene {
  readonly background: Background;
  readonly items: readonly SceneItem[];
  readonly signs: readonly SceneSign[];
  /** 1 keeps the colors of pictograms, 0 makes them gray like the photographs. */
  readonly saturation: number;
}

/** The box of what an item paints; pixels. */
export function itemBox({ pictogram, x, y, size, turn }: SceneItem): Box {
  const [left, top, right, bottom] = pictogram.painted;
  const [across, down] = [right - left, bottom - top];
  const unit = size / Math.max(across, down) / 2;
  const [wide, tall] =
    turn % 180 === 0 ? [across * unit, down * unit] : [down * unit, across * unit];
  return [x - wide, y - tall, x + wide, y + tall];
}

/** The box of a sign whose text is so high, centered at (x, y); whole pixels. */
export function signBox(text: string, x: number, y: number, height: number, face: Typeface): Box {
  const wide = Math.ceil(face.widthOf(text, height * SIGN_TEXT) + height * 0.5);
  const [left, top] = [Math.round(x - wide / 2), Math.round(y - height / 2)];
  return [left, top, left + wide, top + height];
}

/** Font size of a sign as a share of its height. */
const SIGN_TEXT = 0.82;

/** The scene as an image of a task. */
export async function drawScene(scene: Scene, name: string): Promise<TaskImage> {
  const { pixels, width, height } = scene.background;
  const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .composite([{ input: Buffer.from(overlay(scene)), left: 0, top: 0 }])
    .removeAlpha()
    // Photographs hardly shrink further at higher levels, which take four times as long.
    .png({ compressionLevel: 3 })
    .toBuffer();
  return { name, png, width, height };
}

function overlay({ background: { width, height }, items, signs, saturation }: Scene): string {
  const hues = [...new Set(items.map(({ hue }) => hue))].filter((hue) => hue !== 0);
  const filters = [
    `<filter id="gray"><feColorMatrix type="saturate" values="${saturation}"/></filter>`,
    ...hues.map(
      (hue) => `<filter id="hue${hue}"><feColorMatrix type="hueRotate" values="${hue}"/></filter>`,
    ),
  ];
  const drawn = items.map(itemSvg).join('');
  const whole = saturation === 1 ? drawn : `<g filter="url(#gray)">${drawn}</g>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
    `width="${width}" height="${height}"><defs>${filters.join('')}</defs>` +
    `${whole}${signs.map(signSvg).join('')}</svg>`
  );
}

function itemSvg({ pictogram, x, y, size, turn, isMirrored, hue }: SceneItem): string {
  const { view, painted, body } = pictogram;
  const [left, top, right, bottom] = painted;
  const scale = size / view / Math.max(right - left, bottom - top);
  const transform = [
    `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
    `rotate(${turn})`,
    `scale(${(isMirrored ? -scale : scale).toFixed(5)} ${scale.toFixed(5)})`,
    `translate(${(-view * (left + right)) / 2} ${(-view * (top + bottom)) / 2})`,
  ].join(' ');
  const filter = hue === 0 ? '' : ` filter="url(#hue${hue})"`;
  return `<g${filter}><g transform="${transform}">${body}</g></g>`;
}

function signSvg({ text, box: [left, top, right, bottom], typeface }: SceneSign): string {
  const size = (bottom - top) * SIGN_TEXT;
  const start = (left + right - typeface.widthOf(text, size)) / 2;
  const outline = typeface.outline(text, start, bottom - 0.22 * (bottom - top), size);
  return (
    `<rect x="${left + 0.5}" y="${top + 0.5}" width="${right - left - 1}" ` +
    `height="${bottom - top - 1}" fill="#fffdf5" stroke="#333333"/><path d="${outline}" fill="#111111"/>`
  );
}
