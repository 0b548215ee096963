/** Things of known outline on photographs, prompted by boxes and by points. */
import { z } from 'zod';
import { asImages, type Draw, type QualityCase, type QualitySuite } from '../quality.ts';

const shape = z.object({
  box: z.array(z.number()).length(4),
  inside: z.tuple([z.number(), z.number()]),
  outside: z.tuple([z.number(), z.number()]),
});
const overlap = z.object({ iou: z.number() });

export const sam2: QualitySuite = {
  tool: 'sam2',
  backing: 'GrabCut and regions of steady color in OpenCV 5 (Apache-2.0); no weights',
  async cases(draw) {
    const seeds = Array.from({ length: 40 }, (_, index) => 800 + index);
    const cases = await Promise.all(seeds.map((seed) => shapeCases(draw, seed)));
    return cases.flat();
  },
};

async function shapeCases(draw: Draw, seed: number): Promise<readonly QualityCase[]> {
  const isTextured = seed % 2 === 1;
  const drawn = await draw('draw_shape', { seed, isTextured });
  const [image, truth] = asImages(drawn);
  const { box, inside, outside } = shape.parse(drawn.result);
  if (image === undefined || truth === undefined) throw new Error('A shape has two images.');
  const kind = isTextured ? 'textured' : 'plain';
  const prompts = [
    { name: `box, ${kind}`, given: { box_prompt: box } },
    {
      name: `points, ${kind}`,
      given: { point_prompts: [inside, outside], point_labels: [1, 0] },
    },
  ];
  return prompts.map(({ name, given }) => ({
    name: `${name} ${seed}`,
    images: [image],
    given: { ...given, output: 'mask' },
    async score({ images }) {
      const [mask] = images;
      if (mask === undefined) return { [`IoU of ${name}`]: 0 };
      const { result } = await draw('mask_overlap', {}, [mask.png, truth.png]);
      return { [`IoU of ${name}`]: overlap.parse(result).iou };
    },
  }));
}
