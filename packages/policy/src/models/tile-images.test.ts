import { DataError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { ModelImage } from '../batch.ts';
import { VISUAL } from './positions.ts';
import { placeMarkedImages, placeNamedTiles } from './tile-images.ts';

const [IMAGE, START, END, TEXT] = [40, 41, 42, 7];
const tokens = {
  imageToken: IMAGE,
  videoToken: 99,
  visionStartToken: START,
  visionEndToken: END,
};

function imageOf(grids: number, tokenCount: number, isVideo = false): ModelImage {
  return {
    patches: new Float32Array(),
    gridHeight: 4,
    gridWidth: 4,
    grids,
    tokenCount,
    width: 0,
    height: 0,
    ...(isVideo && { video: { timestamps: [] } }),
  };
}

const pads = (count: number): number[] => new Array(count).fill(IMAGE);
const isVisual = (ids: Int32Array): string => [...ids].map((id) => (id === VISUAL ? 'v' : '.')).join('');

describe('placeMarkedImages', () => {
  const { place, countImages } = placeMarkedImages(tokens);

  it('places two images in a row, and counts positions up', () => {
    const all = Int32Array.from([TEXT, START, ...pads(8), END, START, ...pads(4), END, TEXT]);
    const at = place(all, [imageOf(2, 8), imageOf(1, 4)], 3);
    expect(isVisual(at.ids)).toBe('..vvvvvvvv..vvvv..');
    const positions = Array.from(all, (_, i) => 3 + i);
    for (const axis of [at.temporal, at.height, at.width]) expect([...axis]).toEqual(positions);
    expect(at.next).toBe(3 + all.length);
  });

  it('takes the frames of a video from markers of their own', () => {
    const all = Int32Array.from([START, ...pads(4), END, TEXT, START, ...pads(4), END]);
    expect(isVisual(place(all, [imageOf(2, 8, true)], 0).ids)).toBe('.vvvv...vvvv.');
    expect(countImages(all.subarray(0, 9), [imageOf(2, 8, true)])).toBe(0);
  });

  it('passes over sampled placeholders', () => {
    const shown = [START, ...pads(4), END];
    const all = Int32Array.from([IMAGE, START, IMAGE, END, ...shown, IMAGE]);
    expect(isVisual(place(all, [imageOf(1, 4)], 0).ids)).toBe('.....vvvv..');
    expect(() => place(all.subarray(0, 4), [imageOf(1, 4)], 0)).toThrow(DataError);
  });
});

describe('placeNamedTiles', () => {
  const { place, countImages } = placeNamedTiles({ ...tokens, visionEndToken: START });
  const name = [20, 21, 22];

  it('places tiles after their names, whatever follows them', () => {
    const tiles = [START, ...name, ...pads(4), START, 23, ...pads(4), TEXT];
    const overview = [START, 24, ...pads(4), START];
    const all = Int32Array.from([TEXT, ...tiles, ...overview]);
    const at = place(all, [imageOf(3, 12)], 0);
    expect(isVisual(at.ids)).toBe('.....vvvv..vvvv...vvvv.');
    expect([...at.temporal]).toEqual(Array.from(all, (_, i) => i));
  });

  it('places two images in a row, also where they share a marker', () => {
    const one = [START, 24, ...pads(4)];
    const images = [imageOf(1, 4), imageOf(1, 4)];
    const apart = Int32Array.from([...one, START, ...one, START]);
    expect(isVisual(place(apart, images, 0).ids)).toBe('..vvvv...vvvv.');
    const joined = Int32Array.from([...one, ...one, START]);
    expect(isVisual(place(joined, images, 0).ids)).toBe('..vvvv..vvvv.');
    expect(countImages(joined.subarray(0, 10), images)).toBe(1);
    // Nothing says that more placeholders do not follow.
    expect(countImages(joined.subarray(0, 12), images)).toBe(1);
  });

  it('passes over sampled placeholders', () => {
    const strays = [IMAGE, START, IMAGE, START, 24, IMAGE, IMAGE, TEXT];
    const all = Int32Array.from([...pads(4), ...strays, START, 24, ...pads(4), START]);
    const ids = place(all, [imageOf(1, 4)], 0).ids;
    expect(isVisual(ids)).toBe(`${'.'.repeat(14)}vvvv.`);
  });
});
