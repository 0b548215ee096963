/** Charts to SVG by image processing alone: VISTA's OpenCV. */
import { z } from 'zod';
import { primitiveSvg } from '../charts/svg.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered, declined } from '../outcomes.ts';

const line = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const answer = z.object({
  size: z.tuple([z.number(), z.number()]),
  page: z.string(),
  regions: z.array(
    z.object({ color: z.string(), points: z.array(z.tuple([z.number(), z.number()])) }),
  ),
  segments: z.array(z.object({ line, color: z.string() })),
  /** How many regions and segments were not kept. */
  left: z.int(),
});

export const opencv = defineVisionTool({
  name: 'opencv',
  description:
    'Segments an image into graphical primitives and gives them as SVG: regions of one color as ' +
    'polygons, and straight segments. It reads no text and does not know what a chart is.',
  says: "clusters of color, contours and Hough's transform in OpenCV.",
  parameters: {
    max_elements: z
      .int()
      .min(1)
      .max(2000)
      .optional()
      .describe('Regions and segments at most, the largest of each; 60 by default.'),
    image_index: imageIndex,
  },
  example: { max_elements: 60 },
  operations: ['chart_primitives'],
  async embedded({ max_elements = 60, image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    const { result } = await engine.run('chart_primitives', { most: max_elements }, [image]);
    const { size, page, regions, segments, left } = answer.parse(result);
    if (regions.length + segments.length === 0) {
      return declined('NothingFound', 'The image has one color only.');
    }
    const svg = primitiveSvg(size, page, { regions, segments });
    const more = left > 0 ? `\n${left} smaller ones are left out.` : '';
    return answered(`OpenCV Segmentation Result:\n${svg}${more}`);
  },
});
