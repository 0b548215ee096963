import { DataError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { ModelImage } from '../batch.ts';
import { betweenMarkers, gridSpread } from './image-markup.ts';
import { countImages, type ImageMarkup, placeTokens, VISUAL } from './positions.ts';

const tokens = { imageToken: 40, videoToken: 41, visionStartToken: 42, visionEndToken: 43 };
const markup: ImageMarkup = {
  runs: ({ tokenCount }) => [tokenCount],
  ...betweenMarkers(tokens),
  spread: (image) => gridSpread(image, 2, 1),
};

function imageOf(gridHeight: number, gridWidth: number): ModelImage {
  const tokenCount = (gridHeight * gridWidth) / 4;
  return { patches: new Float32Array(), gridHeight, gridWidth, tokenCount, width: 0, height: 0 };
}

describe('placeTokens', () => {
  // transformers 5.18, Qwen2_5_VLModel.get_rope_index, grids 4×6 and 8×4 patches.
  const ids = Int32Array.of(
    1,
    2,
    42,
    40,
    40,
    40,
    40,
    40,
    40,
    43,
    5,
    6,
    42,
    40,
    40,
    40,
    40,
    40,
    40,
    40,
    40,
    43,
    7,
  );
  const golden = {
    temporal: [0, 1, 2, 3, 3, 3, 3, 3, 3, 6, 7, 8, 9, 10, 10, 10, 10, 10, 10, 10, 10, 14, 15],
    height: [0, 1, 2, 3, 3, 3, 4, 4, 4, 6, 7, 8, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 15],
    width: [0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8, 9, 10, 11, 10, 11, 10, 11, 10, 11, 14, 15],
    next: 16,
  };
  const images = [imageOf(4, 6), imageOf(8, 4)];

  it('gives the positions transformers gives', () => {
    const at = placeTokens(ids, images, 0, markup);
    for (const axis of ['temporal', 'height', 'width'] as const) {
      expect([...at[axis]]).toEqual(golden[axis]);
    }
    expect(at.next).toBe(golden.next);
    expect([...at.ids]).toEqual([...ids].map((id) => (id === tokens.imageToken ? VISUAL : id)));
  });

  it('gives the same in two pieces, the second going on where the first ends', () => {
    const cut = 11;
    const first = placeTokens(ids.slice(0, cut), images.slice(0, 1), 0, markup);
    const second = placeTokens(ids.slice(cut), images.slice(1), first.next, markup);
    for (const axis of ['temporal', 'height', 'width'] as const) {
      expect([...first[axis], ...second[axis]]).toEqual(golden[axis]);
    }
  });

  it('counts the images that lie whole in the first tokens', () => {
    const counts = [2, 8, 9, 10, 20, 21, 23].map((length) =>
      countImages(ids.subarray(0, length), images, markup),
    );
    expect(counts).toEqual([0, 0, 0, 1, 1, 1, 2]);
  });

  // The grids of the golden positions with nothing between them: the second begins where the first
  // sends the text after it.
  it('places images that follow one another between one pair of markers', () => {
    const joined = [...ids.subarray(0, 9), ...ids.subarray(13)];
    const at = placeTokens(Int32Array.from(joined), images, 0, markup);
    const shift = 10 - 6;
    const second = (values: readonly number[]) => values.slice(13).map((value) => value - shift);
    for (const axis of ['temporal', 'height', 'width'] as const) {
      expect([...at[axis]]).toEqual([...golden[axis].slice(0, 9), ...second(golden[axis])]);
    }
    expect(at.next).toBe(golden.next - shift);
    expect(countImages(Int32Array.from(joined), images, markup)).toBe(2);
    // Without the marker at the end neither image is complete.
    expect(countImages(Int32Array.from(joined.slice(0, -2)), images, markup)).toBe(0);
  });

  it('takes placeholders outside an image for text', () => {
    const stray = [40, 42, 40, 43];
    const at = placeTokens(Int32Array.from([...ids, ...stray]), images, 0, markup);
    expect([...at.ids.slice(-4)]).toEqual(stray);
    expect([...at.temporal.slice(-4)]).toEqual([16, 17, 18, 19]);
  });

  it('refuses an image without its placeholders', () => {
    expect(() => placeTokens(ids, [...images, imageOf(4, 4)], 0, markup)).toThrow(DataError);
  });
});
