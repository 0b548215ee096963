/** A scene: pictograms and signs at known places on a photograph. */
import type { Box, TaskImage } from '@saccade/gym';
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

/** Least saturation of things; paler yellow ones look like the sky of a brown photograph. */
export const PALEST = 0.3;

/** The scene as an image of a task. */
export async function drawScene(scene: Scene, name: string): Promise<TaskImage> {
  const { default: sharp } = await import('sharp');
  const { background, items, signs, saturation } = scene;
  const { pixels, width, height } = background;
  const drawn = sharp(Buffer.from(itemsSvg(items, width, height)));
  const paled = saturation === 1 ? drawn : drawn.recomb(saturate(saturation));
  const { data, info } = await paled.raw().toBuffer({ resolveWithObject: true });
  const overlays = [
    { input: data, raw: { width, height, channels: info.channels }, left: 0, top: 0 },
    ...signs.map((sign) => {
      return { input: Buffer.from(signSvg(sign)), left: sign.box[0], top: sign.box[1] };
    }),
  ];
  const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .composite(overlays)
    .removeAlpha()
    // Photographs hardly shrink further at higher levels, which take four times as long.
    .png({ compressionLevel: 3 })
    .toBuffer();
  return { name, png, width, height };
}

/** Shares of red, green and blue in lightness, as in `feColorMatrix` of SVG; its filter takes twice as long. */
const LIGHTNESS = [0.213, 0.715, 0.072] as const;

/** The matrix that keeps a share of the saturation. */
function saturate(share: number): [Row, Row, Row] {
  const row = (channel: number) =>
    LIGHTNESS.map((part, other) => part * (1 - share) + (other === channel ? share : 0)) as Row;
  return [row(0), row(1), row(2)];
}

type Row = [number, number, number];

function itemsSvg(items: readonly SceneItem[], width: number, height: number): string {
  const hues = [...new Set(items.map(({ hue }) => hue))].filter((hue) => hue !== 0);
  const filters = hues.map(
    (hue) => `<filter id="hue${hue}"><feColorMatrix type="hueRotate" values="${hue}"/></filter>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
    `width="${width}" height="${height}"><defs>${filters.join('')}</defs>` +
    `${items.map(itemSvg).join('')}</svg>`
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

/** A sign as an SVG of its own size. */
function signSvg({ text, box: [left, top, right, bottom], typeface }: SceneSign): string {
  const [width, height] = [right - left, bottom - top];
  const size = height * SIGN_TEXT;
  const start = (width - typeface.widthOf(text, size)) / 2;
  const outline = typeface.outline(text, start, 0.78 * height, size);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" ` +
    `fill="#fffdf5" stroke="#333333"/><path d="${outline}" fill="#111111"/></svg>`
  );
}
