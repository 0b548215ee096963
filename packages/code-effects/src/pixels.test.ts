/**
 * The analysis against what happens: the snippets run in the real sandbox on an image whose pixels
 * hold their own coordinates, and the corners of what is shown tell where it comes from.
 */

import { join } from 'node:path';
import { ensurePython, type LocalSandbox, type Outcome, openSandbox } from '@saccade/sandbox';
import { decode, encode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyzeCode } from './analyze.ts';
import { applyAffine, mapBox } from './geometry.ts';
import type { Operation, ShownImage, TurnToolUse } from './operation.ts';
import { SNIPPET_HEIGHT, SNIPPET_WIDTH, type Snippet, snippets } from './snippets.fixture.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
const inputs = [{ name: 'image_clue_0', width: SNIPPET_WIDTH, height: SNIPPET_HEIGHT }];

/** R = x mod 256, G = y mod 256, B = x div 256 + 16 · (y div 256) + 4: never black. */
function coordinateImage(): Uint8Array {
  const data = new Uint8Array(SNIPPET_WIDTH * SNIPPET_HEIGHT * 3);
  for (let y = 0; y < SNIPPET_HEIGHT; y++) {
    for (let x = 0; x < SNIPPET_WIDTH; x++) {
      data.set([x & 255, y & 255, (x >> 8) + 16 * (y >> 8) + 4], 3 * (y * SNIPPET_WIDTH + x));
    }
  }
  return encode({ data, width: SNIPPET_WIDTH, height: SNIPPET_HEIGHT, channels: 3 });
}

/** The pixel of the input that a pixel of a shown image is; undefined for one from elsewhere. */
function originOf(pixels: ArrayLike<number>, at: number): readonly [number, number] | undefined {
  const [r = 0, g = 0, b = 0] = [pixels[3 * at], pixels[3 * at + 1], pixels[3 * at + 2]];
  if (b < 4) return undefined;
  return [r + 256 * ((b - 4) & 15), g + 256 * ((b - 4) >> 4)];
}

/** Libraries that the sandbox lacks, files of its host, and what never ends. */
const notRun = /cv2|scipy|skimage|easyocr|pytesseract|while True|os\./;

/** Operations after which every pixel is one of the input's. */
function keepsPixels({ family, kind, numbers }: Operation): boolean {
  if (family === 'io' || family === 'crop' || family === 'statistics') return true;
  if (kind === 'resize') return true;
  return family === 'orientation' && (numbers[0] ?? 0) % 90 === 0;
}

let sandbox: LocalSandbox;

beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python, limits: { wallSeconds: 100 } });
  // The first call makes the environment, which takes a minute.
}, 300_000);

afterAll(() => sandbox.dispose());

async function execute({ turns }: Snippet): Promise<readonly Outcome[]> {
  const image = { name: 'image_clue_0', encoded: coordinateImage() };
  const session = await sandbox.open({ images: [image] });
  try {
    const outcomes: Outcome[] = [];
    for (const code of turns) outcomes.push(await session.execute(code));
    return outcomes;
  } finally {
    await session.dispose();
  }
}

/** Every n-th pixel: the analysis has a pixel stand for its n, numpy takes the first of them. */
const strided = /\[::\d/;

/** Corner by corner: the input's pixel there, and the one that the analysis says. */
function compareCorners(shown: ShownImage, png: Uint8Array, isStrided: boolean): number {
  const { width, height, data } = decode(png);
  expect([shown.width, shown.height]).toEqual([width, height]);
  const { toCanonical } = shown;
  if (toCanonical === undefined) throw new Error('the analysis lost the image');
  let count = 0;
  for (const x of [0, width - 1]) {
    for (const y of [0, height - 1]) {
      const seen = originOf(data, y * width + x);
      const place = applyAffine(toCanonical, x + 0.5, y + 0.5).map(Math.floor);
      const isInside =
        place.every((side) => side >= 0) &&
        (place[0] as number) < SNIPPET_WIDTH &&
        (place[1] as number) < SNIPPET_HEIGHT;
      // Pixels from outside the input, or in a border, are black or white.
      if (!isInside) continue;
      if (isStrided) {
        const [left, top, right, bottom] = mapBox(toCanonical, [x, y, x + 1, y + 1]);
        expect(seen).toEqual([left, top]);
        expect(place[0]).toBeLessThan(right);
        expect(place[1]).toBeLessThan(bottom);
      } else expect(seen).toEqual(place);
      count++;
    }
  }
  return count;
}

// The sandbox needs half a second for each: every fifth of them, or all in a sweep.
const every = process.env.SACCADE_SWEEP === undefined ? 5 : 1;
const runnable = snippets
  .filter(({ turns }) => !turns.some((code) => notRun.test(code)))
  .filter((_, index) => index % every === 0);
const counts = { snippets: 0, errors: 0, images: 0, lost: 0, corners: 0 };

describe('what the sandbox does with the snippets', () => {
  it.each(runnable.map((snippet) => [snippet.name, snippet] as const))(
    'agrees: %s',
    async (_, snippet) => {
      const outcomes = await execute(snippet);
      const uses = analyzeCode(
        snippet.turns.map((code, turn) => ({
          turn,
          code,
          ...(outcomes[turn]?.kind === 'forbidden' && { result: { kind: 'forbidden' as const } }),
        })),
        inputs,
      );
      counts.snippets++;
      const done: Operation[] = [];
      outcomes.forEach((outcome, turn) => {
        const use = uses[turn] as TurnToolUse;
        if (outcome.kind !== 'forbidden') {
          const raised = outcome.error?.type;
          const known = raised === 'IndentationError' ? 'SyntaxError' : raised;
          expect(use.raises).toBe(known);
          if (known !== undefined) counts.errors++;
        }
        done.push(...use.operations);
        if (use.operations.some(({ isCertain }) => !isCertain)) return;
        // Figures are images of images: their pixels are not the input's.
        const captured = outcome.images.filter(({ source }) => source === 'image');
        if (outcome.images.some(({ source }) => source === 'figure')) return;
        expect(use.shown.length).toBe(captured.length);
        if (!done.every(keepsPixels)) return;
        captured.forEach(({ png }, index) => {
          const shown = use.shown[index] as ShownImage;
          counts.images++;
          if (shown.toCanonical === undefined) counts.lost++;
          else counts.corners += compareCorners(shown, png, strided.test(snippet.turns.join('')));
        });
      });
    },
  );

  it('compared enough of them', () => {
    console.log(JSON.stringify(counts));
    expect(counts.snippets).toBeGreaterThanOrEqual(150 / every);
    expect(counts.corners).toBeGreaterThanOrEqual(400 / every);
    // The box that is computed from pixels.
    if (every === 1) expect(counts.lost).toBe(1);
    else expect(counts.lost).toBeLessThan(2);
  });
});
