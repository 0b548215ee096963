/** Tells near from far in a pair of images of a stereo camera. */
import { refused } from '@saccade/tools';
import { z } from 'zod';
import { defineVisionTool, imageAt, isOutcome } from '../define-vision-tool.ts';
import { answered, madeOf } from '../outcomes.ts';

const answer = z.object({
  matched: z.number(),
  disparity: z.object({ low: z.number(), median: z.number(), high: z.number() }),
  points: z.array(z.number().nullable()),
});

export const stereoDepth = defineVisionTool({
  name: 'stereo_depth',
  description:
    'Measures how near things are from two images that a stereo camera took side by side: a map, ' +
    'light where it is near, and the disparity at points; what is nearer has a larger one.',
  says: 'semi-global matching in OpenCV; the pair must be rectified. One image alone gives no depth.',
  parameters: {
    left_index: z.int().min(0).max(9999).optional().describe('The left image; 0 by default.'),
    right_index: z.int().min(0).max(9999).optional().describe('The right image; 1 by default.'),
    points: z
      .array(z.tuple([z.number(), z.number()]))
      .max(100)
      .optional()
      .describe('[x, y] in pixels of the left image, each.'),
    max_disparity: z
      .int()
      .min(1)
      .max(512)
      .optional()
      .describe('Pixels between the images at most; 128 by default.'),
  },
  example: { points: [[60, 60]] },
  operations: ['stereo'],
  async embedded(given, context, engine) {
    const { left_index = 0, right_index = 1, points = [], max_disparity = 128 } = given;
    const left = imageAt(context, left_index);
    if (isOutcome(left)) return left;
    const right = imageAt(context, right_index);
    if (isOutcome(right)) return right;
    const outside = points.find(([x, y]) => x < 0 || y < 0 || x >= left.width || y >= left.height);
    if (outside !== undefined) {
      return refused('BadArgument', `The point [${outside.join(', ')}] is outside of the image.`);
    }
    const params = { points, maxDisparity: max_disparity };
    const { result, images } = await engine.run('stereo', params, [left, right]);
    const { matched, disparity, points: found } = answer.parse(result);
    const { low, median, high } = disparity;
    const lines = [
      `${Math.round(matched * 100)}% of the pixels matched; disparity ${low} far, ${median} in the ` +
        `middle, ${high} near (pixels).`,
      ...found.map((one, index) => {
        const where = `[${points[index]?.join(', ') ?? ''}]`;
        return one === null ? `${where}: not matched` : `${where}: disparity ${one}`;
      }),
    ];
    return answered(`Stereo Depth Result:\n${lines.join('\n')}`, {
      images: images.map((made) => madeOf(left, made)),
    });
  },
});
