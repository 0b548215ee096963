/** Random chains of what moves pixels, as Python code, and what Python makes of them. */
import { type Random, randomAt } from '@saccade/core';

export const CHAIN_WIDTH = 231;
export const CHAIN_HEIGHT = 160;

export interface Chain {
  readonly code: string;
  /** Largest step of a slice: numpy takes the first pixel of each step, the analysis all of them. */
  readonly stride: number;
}

export type ChainLibrary = 'pillow' | 'numpy' | 'opencv';

interface Link {
  readonly lines: readonly string[];
  readonly stride?: number;
}

type MakeLink = (random: Random) => Link;

const between = (random: Random, low: number, high: number): string =>
  (low + (high - low) * random.uniform()).toFixed(2);
const line = (...lines: readonly string[]): Link => ({ lines });

/** A part of the image, at least half of each side. */
const fractions = (random: Random): readonly [string, string, string, string] => [
  between(random, 0, 0.25),
  between(random, 0, 0.25),
  between(random, 0.75, 1),
  between(random, 0.75, 1),
];

/** Sides from 40 to 400, so that a chain never shrinks to nothing. */
const sides = (random: Random): string =>
  `(max(40, min(400, int(w * ${between(random, 0.5, 2)}))), ` +
  `max(40, min(400, int(h * ${between(random, 0.5, 2)}))))`;

const size = 'w, h = cur.size';
const shape = 'h, w = cur.shape[:2]';
const bilinear = 'Image.BILINEAR';

const pillowLinks: readonly MakeLink[] = [
  (random) => {
    const [left, top, right, bottom] = fractions(random);
    return line(
      size,
      `cur = cur.crop((int(w*${left}), int(h*${top}), int(w*${right}), int(h*${bottom})))`,
    );
  },
  (random) => {
    const [left, top, right, bottom] = fractions(random);
    return line(
      size,
      `box = [${left}*w, ${top}*h, ${right}*w, ${bottom}*h]`,
      'cur = cur.crop(tuple(box))',
    );
  },
  (random) => {
    const margin = 1 + random.integer(9);
    return line(size, `cur = cur.crop((-${margin}, ${margin}, w + ${margin}, h - ${margin}))`);
  },
  (random) =>
    line(
      `cur = cur.transpose(Image.${random.pick(['FLIP_LEFT_RIGHT', 'FLIP_TOP_BOTTOM', 'ROTATE_90', 'ROTATE_180', 'ROTATE_270', 'TRANSPOSE', 'TRANSVERSE'])})`,
    ),
  (random) =>
    line(`cur = cur.rotate(${random.pick([90, 180, 270, 0, -90, 360, 450, -180])}, expand=True)`),
  (random) => line(`cur = cur.rotate(${random.pick([90, 270, 180, -90])}, resample=${bilinear})`),
  (random) =>
    line(
      `cur = cur.rotate(${between(random, -170, 170)}, resample=${bilinear}, expand=${random.pick(['True', 'False', '1'])})`,
    ),
  (random) =>
    line(
      size,
      `cur = cur.rotate(${between(random, -60, 60)}, ${bilinear}, False, (w * ${between(random, 0.4, 0.6)}, h * ${between(random, 0.4, 0.6)}))`,
    ),
  (random) => line(size, `cur = cur.resize(${sides(random)}, ${bilinear})`),
  (random) =>
    line(
      size,
      `cur = cur.resize(${sides(random)}, ${bilinear}, box=(w*${between(random, 0, 0.2)}, h*${between(random, 0, 0.2)}, w*${between(random, 0.8, 1)}, h*${between(random, 0.8, 1)}))`,
    ),
  (random) =>
    line(
      size,
      `cur.thumbnail((max(40, int(w*${between(random, 0.5, 1.2)})), max(40, int(h*${between(random, 0.5, 1.2)}))), ${bilinear})`,
    ),
  () => line(size, 'if w > 120 and h > 120:', '    cur = cur.reduce(2)'),
  (random) => line(`cur = ImageOps.${random.pick(['mirror', 'flip'])}(cur)`),
  (random) => line(size, `cur = ImageOps.fit(cur, ${sides(random)}, ${bilinear})`),
  (random) =>
    line(
      size,
      `cur = ImageOps.${random.pick(['pad', 'contain'])}(cur, ${sides(random)}, ${bilinear})`,
    ),
  (random) => line(`cur = ImageOps.scale(cur, ${between(random, 0.6, 1.6)}, ${bilinear})`),
  (random) => line(`cur = ImageOps.expand(cur, border=${1 + random.integer(9)})`),
  (random) => line(`cur = ImageOps.crop(cur, ${1 + random.integer(9)})`),
  () => line('cur = Image.fromarray(np.array(cur))'),
  () => line('cur = cur.copy()'),
];

const arrayLinks: readonly MakeLink[] = [
  (random) => {
    const [left, top, right, bottom] = fractions(random);
    return line(shape, `cur = cur[int(h*${top}):int(h*${bottom}), int(w*${left}):int(w*${right})]`);
  },
  (random) =>
    line(
      `cur = cur[${1 + random.integer(9)}:-${1 + random.integer(9)}, ${1 + random.integer(9)}:]`,
    ),
  (random) => line(`cur = cur[${random.pick(['::-1', ':, ::-1', '::-1, ::-1', '...', ':'])}]`),
  (random) => {
    const [left, top, right, bottom] = fractions(random);
    return line(
      shape,
      `cur = cur[int(h*${bottom}):int(h*${top}):-1, int(w*${left}):int(w*${right})]`,
    );
  },
  (random) => {
    const stride = 2 + random.integer(2);
    const index = random.pick([`::${stride}, ::${stride}`, `::${stride}`, `:, ::-${stride}`]);
    return {
      lines: [shape, 'if w > 120 and h > 120:', `    cur = cur[${index}]`],
      stride,
    };
  },
  (random) =>
    line(
      `cur = np.rot90(cur${random.pick(['', ', 1', ', 2', ', k=3', ', -1', ', 4', ', 1, (1, 0)', ', k=1, axes=(0, 1)'])})`,
    ),
  (random) =>
    line(
      `cur = np.${random.pick(['fliplr(cur)', 'flipud(cur)', 'flip(cur)', 'flip(cur, 0)', 'flip(cur, axis=1)', 'transpose(cur)', 'swapaxes(cur, 0, 1)', 'flip(cur, (0, 1))'])}`,
    ),
  () => line('cur = cur.T'),
  (random) =>
    line(
      `cur = ${random.pick(['np.ascontiguousarray(cur)', 'cur.copy()', 'np.asarray(Image.fromarray(np.ascontiguousarray(cur)))'])}`,
    ),
];

const opencvLinks: readonly MakeLink[] = [
  (random) =>
    line(
      `cur = cv2.rotate(cur, cv2.${random.pick(['ROTATE_90_CLOCKWISE', 'ROTATE_180', 'ROTATE_90_COUNTERCLOCKWISE'])})`,
    ),
  (random) => line(`cur = cv2.flip(cur, ${random.pick(['0', '1', '-1', 'flipCode=1'])})`),
  () => line('cur = cv2.transpose(cur)'),
  (random) => line(shape, `cur = cv2.resize(cur, ${sides(random)})`),
  (random) =>
    line(
      `cur = cv2.resize(cur, None, fx=${between(random, 0.6, 1.6)}, fy=${between(random, 0.6, 1.6)}, interpolation=cv2.INTER_LINEAR)`,
    ),
  (random) =>
    line(
      shape,
      `M = cv2.getRotationMatrix2D((w / 2, h / 2), ${between(random, -170, 170)}, ${between(random, 0.8, 1.2)})`,
      'cur = cv2.warpAffine(cur, M, (w, h))',
    ),
  (random) =>
    line(
      `cur = cv2.copyMakeBorder(cur, ${random.integer(9)}, ${random.integer(9)}, ${random.integer(9)}, ${random.integer(9)}, cv2.BORDER_CONSTANT, value=0)`,
    ),
  (random) =>
    line(
      shape,
      `cur = cv2.getRectSubPix(cur, (w // 2 + 10, h // 2 + 10), (w * ${between(random, 0.4, 0.6)}, h * ${between(random, 0.4, 0.6)}))`,
    ),
  () => line('cur = cv2.pyrUp(cur)', shape, 'cur = cur[:min(h, 300), :min(w, 300)]'),
  () => line(shape, 'if w > 120 and h > 120:', '    cur = cv2.pyrDown(cur)'),
];

/** A chain of two to six links that begins with the task's image and ends in `result`. */
export function randomChain(library: ChainLibrary, seed: number): Chain {
  const random = randomAt(seed, 'chain', library);
  const links = { pillow: pillowLinks, numpy: arrayLinks, opencv: [...opencvLinks, ...arrayLinks] };
  const chosen = Array.from({ length: 2 + random.integer(5) }, () =>
    random.pick(links[library])(random),
  );
  const start = library === 'pillow' ? 'cur = image_clue_0.copy()' : 'cur = np.array(image_clue_0)';
  return {
    code: [
      'from PIL import Image, ImageOps',
      ...(library === 'opencv' ? ['import cv2'] : []),
      start,
      ...chosen.flatMap(({ lines }) => lines),
      'result = cur',
    ].join('\n'),
    stride: chosen.reduce((most, { stride = 1 }) => most * stride, 1),
  };
}

/** Python's result of a chain. */
export interface Observed {
  readonly width: number;
  readonly height: number;
  /** Pixels of the result: column, row, and where their centers lie in the image that was given. */
  readonly points: readonly (readonly [number, number, number, number])[];
}

/**
 * Reads a JSON list of codes and writes what each gives. Every code runs on three images of floats:
 * the x of each pixel's center, its y, and 1 everywhere. What is linear stays linear under every
 * filter, so that the first two tell where a pixel is from to a small part of a pixel; the third
 * tells whether it is from inside at all.
 */
export const chainDriver: string = `
import json, sys
import numpy as np
from PIL import Image
W, H = ${CHAIN_WIDTH}, ${CHAIN_HEIGHT}
x = np.tile(np.arange(W, dtype=np.float32) + 0.5, (H, 1))
y = np.tile(np.arange(H, dtype=np.float32)[:, None] + 0.5, (1, W))
def run(code, pixels):
    names = {'image_clue_0': Image.fromarray(pixels), 'np': np}
    exec(code, names)
    return np.asarray(names['result'])
out = []
for code in json.load(sys.stdin):
    u, v, inside = (run(code, pixels) for pixels in (x, y, np.ones((H, W), np.float32)))
    height, width = u.shape
    points = []
    for i, j in ((2, 2), (1, 1), (1, 3), (3, 1), (3, 3)):
        px, py = i * width // 4, j * height // 4
        if abs(inside[py, px] - 1) < 1e-4:
            points.append([px, py, round(float(u[py, px]), 3), round(float(v[py, px]), 3)])
    out.append({'width': width, 'height': height, 'points': points})
json.dump(out, sys.stdout)
`;
