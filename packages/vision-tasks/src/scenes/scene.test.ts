import type { Split } from '@saccade/gym';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { pictogramsOf } from './pictograms.ts';
import { drawScene, PALEST } from './scene.ts';

const splits: readonly Split[] = ['train', 'heldOut'];
const [width, height] = [64, 64];
/** The sky of the brown photographs, lighter and darker. */
const skies = [
  [222, 216, 196],
  [205, 197, 174],
  [178, 170, 148],
] as const;
/** Gray levels by which the most different channel of a thing differs on average. */
const SEEN = 12;

describe('the palest things', () => {
  it('differ from the sky of a photograph', async () => {
    for (const pictogram of splits.flatMap(pictogramsOf)) {
      for (const sky of skies) {
        const pixels = Buffer.from(Array.from({ length: width * height }, () => sky).flat());
        const item = {
          pictogram,
          x: 32,
          y: 32,
          size: 40,
          isMirrored: false,
          turn: 0,
          hue: 0,
        } as const;
        const background = { name: 'sky', pixels, width, height };
        const scene = { background, signs: [], saturation: PALEST };
        const { png } = await drawScene({ ...scene, items: [item] }, 'scene');
        const drawn = await sharp(png).removeAlpha().raw().toBuffer();
        let sum = 0;
        let painted = 0;
        for (let at = 0; at < drawn.length; at += 3) {
          const far = sky.map((level, channel) => Math.abs(level - (drawn[at + channel] ?? 0)));
          if (Math.max(...far) === 0) continue;
          sum += Math.max(...far);
          painted++;
        }
        expect(sum / painted, `${pictogram.name} on ${sky}`).toBeGreaterThan(SEEN);
      }
    }
  });
});
