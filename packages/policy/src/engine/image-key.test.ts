import { describe, expect, it } from 'vitest';
import { noiseImage } from '../tiny-policy.fixture.ts';
import { imageKey } from './image-key.ts';

describe('the key of an image', () => {
  it('follows its pixels, its shape and the time between a video’s grids', () => {
    const image = noiseImage(56, 56, 1);
    const { gridHeight, gridWidth } = image;
    const video = (secondsPerGrid: number) => ({
      ...image,
      grids: 2,
      gridHeight: gridHeight / 2,
      video: { timestamps: [0, secondsPerGrid], secondsPerGrid },
    });
    const different = [
      image,
      noiseImage(56, 56, 2),
      { ...image, gridHeight: gridHeight * 2, gridWidth: gridWidth / 2 },
      video(1),
      // A still scene, sampled half as often: other positions.
      video(2),
    ];
    expect(new Set(different.map(imageKey)).size).toBe(different.length);
    expect(imageKey({ ...image, patches: image.patches.slice() })).toBe(imageKey(image));
  });
});
