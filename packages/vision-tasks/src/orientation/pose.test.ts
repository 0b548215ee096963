import { randomAt } from '@saccade/core';
import type { Box, TurnTool } from '@saccade/gym';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { balancedChoice } from './balanced.ts';
import {
  inverseOf,
  isSideways,
  type Pose,
  posedBox,
  posedPng,
  poseMap,
  poses,
  type RawPixels,
  toCanonicalOf,
  undoOf,
} from './pose.ts';

/** `Image.transpose` of Pillow 12 on [[0, 1, 2], [3, 4, 5]]. */
const byPillow: Readonly<Record<Pose, readonly (readonly number[])[]>> = {
  source: [
    [0, 1, 2],
    [3, 4, 5],
  ],
  rotate_90: [
    [2, 5],
    [1, 4],
    [0, 3],
  ],
  rotate_180: [
    [5, 4, 3],
    [2, 1, 0],
  ],
  rotate_270: [
    [3, 0],
    [4, 1],
    [5, 2],
  ],
  flip_horizontal: [
    [2, 1, 0],
    [5, 4, 3],
  ],
  flip_vertical: [
    [3, 4, 5],
    [0, 1, 2],
  ],
  transpose: [
    [0, 3],
    [1, 4],
    [2, 5],
  ],
  transverse: [
    [5, 2],
    [4, 1],
    [3, 0],
  ],
};

async function pixelsOf(png: Uint8Array): Promise<RawPixels> {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  return { data, ...info };
}

/** A tool of the agent by moving pixels one by one, apart from the code that turns images. */
function byHand(tool: TurnTool, { data, width, height, channels }: RawPixels): RawPixels {
  const isTurn = tool === 'rotate_90' || tool === 'rotate_270';
  const [wide, tall] = isTurn ? [height, width] : [width, height];
  const turned = new Uint8Array(data.length);
  for (let y = 0; y < tall; y++) {
    for (let x = 0; x < wide; x++) {
      const [fromX, fromY] = {
        rotate_90: [width - 1 - y, x],
        rotate_180: [width - 1 - x, height - 1 - y],
        rotate_270: [y, height - 1 - x],
        flip_horizontal: [width - 1 - x, y],
        flip_vertical: [x, height - 1 - y],
      }[tool] as [number, number];
      for (let channel = 0; channel < channels; channel++) {
        turned[(y * wide + x) * channels + channel] =
          data[(fromY * width + fromX) * channels + channel] ?? 0;
      }
    }
  }
  return { data: turned, width: wide, height: tall, channels };
}

describe('poses', () => {
  it('are those that Pillow calls so', async () => {
    const pixels: RawPixels = {
      data: Uint8Array.from([0, 1, 2, 3, 4, 5]),
      width: 3,
      height: 2,
      channels: 1,
    };
    for (const pose of poses) {
      const { png, width } = await posedPng(pose, 'image', pixels);
      const data = await sharp(png).extractChannel(0).raw().toBuffer();
      const rows = byPillow[pose];
      expect(width, pose).toBe(rows[0]?.length);
      expect([...data], pose).toEqual(rows.flat());
    }
  });

  it('are undone by their tools to the last bit, for images of any size and any channels', async () => {
    for (let trial = 0; trial < 24; trial++) {
      const random = randomAt(3, 'pose-test', trial);
      const [width, height] = [1 + random.integer(40), 1 + random.integer(40)];
      const channels = random.pick([3, 4] as const);
      const data = Uint8Array.from({ length: width * height * channels }, () =>
        random.integer(256),
      );
      for (const pose of poses) {
        const { png } = await posedPng(pose, 'image', { data, width, height, channels });
        let back = await pixelsOf(png);
        for (const tool of undoOf[pose]) back = byHand(tool, back);
        expect([back.width, back.height, back.channels], pose).toEqual([width, height, channels]);
        expect(Buffer.compare(Buffer.from(back.data), Buffer.from(data)), pose).toBe(0);
      }
    }
  });

  it('have maps that are inverse to each other and take boxes to boxes of the same area', () => {
    for (let trial = 0; trial < 200; trial++) {
      const random = randomAt(4, 'pose-boxes', trial);
      const [width, height] = [1 + random.integer(5000), 1 + random.integer(5000)];
      const [left, top] = [random.integer(width), random.integer(height)];
      const right = left + 1 + random.integer(width - left);
      const bottom = top + 1 + random.integer(height - top);
      const box: Box = [left, top, right, bottom];
      for (const pose of poses) {
        const [wide, tall] = isSideways(pose) ? [height, width] : [width, height];
        const posed = posedBox(pose, width, height, box);
        expect(Math.min(...posed)).toBeGreaterThanOrEqual(0);
        expect(posed[2]).toBeLessThanOrEqual(wide);
        expect(posed[3]).toBeLessThanOrEqual(tall);
        const area = (posed[2] - posed[0]) * (posed[3] - posed[1]);
        expect(area).toBe((right - left) * (bottom - top));
        expect(posedBox(inverseOf(pose), wide, tall, posed)).toEqual(box);
        const [a, b, c, d, e, f] = poseMap(pose, width, height);
        const [p, q, r, s, t, u] = toCanonicalOf(pose, width, height);
        const [x, y] = [a * left + b * top + c, d * left + e * top + f];
        expect([p * x + q * y + r, s * x + t * y + u], pose).toEqual([left, top]);
      }
    }
  });
});

describe('a balanced choice', () => {
  it('gives each choice once in every block, and the same one for the same index', () => {
    const choices = ['a', 'b', 'c', 'd', 'e'];
    const drawn = Array.from({ length: 50 }, (_, index) =>
      balancedChoice(choices, index, 7, 'test'),
    );
    for (let block = 0; block < 10; block++) {
      expect([...drawn.slice(block * 5, block * 5 + 5)].sort()).toEqual(choices);
    }
    expect(
      new Set(Array.from({ length: 10 }, (_, block) => drawn[block * 5])).size,
    ).toBeGreaterThan(2);
    expect(balancedChoice(choices, 13, 7, 'test')).toBe(drawn[13]);
  });
});
