/** The photographs behind scenes, separated by split. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';

/** The photographs of each split; SOURCES.md says who took them. */
const photographsOf: Readonly<Record<Split, readonly string[]>> = {
  train: ['acanthus-mollis', 'airplane-from-above', 'black-canyon', 'french-alpine-landscape'],
  heldOut: ['allium-oreophilum', 'dust-bowl-home', 'march-pastoral', 'nagasaki-boats'],
};

/** Smallest share of a photograph's possible crop that is shown. */
const LEAST_SHOWN = 0.7;

/** Part of a photograph, as large as an image of a task. */
export interface Background {
  readonly name: string;
  /** [height, width, 3] red, green and blue, row by row. */
  readonly pixels: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Draws a photograph of a split, a part of it, and whether it is mirrored. */
export async function drawBackground(
  split: Split,
  width: number,
  height: number,
  random: Random,
): Promise<Background> {
  const { default: sharp } = await import('sharp');
  const name = random.pick(photographsOf[split]);
  const file = new URL(`../../data/photographs/${name}.jpg`, import.meta.url).pathname;
  const share = LEAST_SHOWN + (1 - LEAST_SHOWN) * random.uniform();
  const [right, down] = [random.uniform(), random.uniform()];
  const isMirrored = random.integer(2) === 1;
  const whole = await sharp(file).metadata();
  const scale = share * Math.min(whole.width / width, whole.height / height);
  const [partWidth, partHeight] = [Math.floor(width * scale), Math.floor(height * scale)];
  const pixels = await sharp(file)
    .extract({
      left: Math.floor(right * (whole.width - partWidth)),
      top: Math.floor(down * (whole.height - partHeight)),
      width: partWidth,
      height: partHeight,
    })
    .resize(width, height, { fit: 'fill', kernel: 'linear' })
    .flop(isMirrored)
    .removeAlpha()
    .toColorspace('srgb')
    .raw()
    .toBuffer();
  return { name, pixels, width, height };
}
