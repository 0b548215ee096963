/** Pairs of known disparity. */
import { z } from 'zod';
import { asImages, type Draw, type QualityCase, type QualitySuite } from '../quality.ts';

const pair = z.object({
  points: z.array(z.object({ at: z.tuple([z.number(), z.number()]), disparity: z.number() })),
});

export const stereoDepth: QualitySuite = {
  tool: 'stereo_depth',
  backing: 'semi-global matching of OpenCV 5 (Apache-2.0); no weights',
  async cases(draw) {
    const seeds = Array.from({ length: 50 }, (_, index) => 1100 + index);
    return await Promise.all(seeds.map((seed) => pairCase(draw, seed)));
  },
};

async function pairCase(draw: Draw, seed: number): Promise<QualityCase> {
  const drawn = await draw('draw_stereo', { seed });
  const { points } = pair.parse(drawn.result);
  return {
    name: `pair ${seed}`,
    images: asImages(drawn),
    given: { points: points.map(({ at }) => at) },
    score({ stdout }) {
      const found = stdout.split('\n').slice(2);
      const right = points.filter(({ disparity }, index) => {
        const measured = /disparity ([\d.]+)/.exec(found[index] ?? '')?.[1];
        return measured !== undefined && Math.abs(Number(measured) - disparity) <= 1;
      });
      return { 'within 1 pixel': right.length / points.length };
    },
  };
}
