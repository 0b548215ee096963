import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { box, imageIndex } from '../arguments.ts';
import { pythonValue } from '../python.ts';
import { refused } from '../refused.ts';
import { runOnImage } from '../run-on-image.ts';
import { defineTool, type Tool } from '../tool.ts';

/**
 * Cuts a box out of an image. The box is clamped to the image; a short side is widened around the
 * center.
 *
 * DeepEyes' tool of the same name, which VISTA-Gym carries (its `deepeyes` handler); clamping and
 * widening as there.
 */
export const imageZoomInTool: Tool = defineTool({
  name: 'image_zoom_in_tool',
  description: 'Cuts a box out of a picture, to look at it closely.',
  settings: z.strictObject({
    leastSide: count({
      min: 1,
      max: 4096,
      // One patch of the vision tower and no less.
      default: 28,
      unit: 'pixels',
      about: 'A shorter side of a box is widened around its center.',
    }),
  }),
  parameters: {
    bbox_2d: box,
    label: z.string().max(200).optional().describe('What is in the box.'),
    image_index: imageIndex,
  },
  example: { bbox_2d: [10, 10, 60, 50] },
  isDeterministic: true,
  async run({ bbox_2d, image_index = 0 }, context, { leastSide }) {
    const image = context.images[image_index];
    if (image === undefined) return runOnImage(context, image_index, []);
    const [left, right] = span(bbox_2d[0], bbox_2d[2], image.width, leastSide);
    const [top, bottom] = span(bbox_2d[1], bbox_2d[3], image.height, leastSide);
    if (left >= right || top >= bottom) {
      const size = `${image.width}×${image.height}`;
      return refused('BadArgument', `The box holds nothing of the picture, which is ${size}.`);
    }
    const script = `image.crop(tuple(${pythonValue([left, top, right, bottom])})).show()`;
    return runOnImage(context, image_index, [script]);
  },
});

/** Both ends of a side in whole pixels, inside of the image and not too near to each other. */
function span(
  from: number,
  to: number,
  size: number,
  leastSide: number,
): readonly [number, number] {
  const [start, end] = [Math.max(0, Math.floor(from)), Math.min(size, Math.ceil(to))];
  const least = Math.min(leastSide, size);
  if (start >= end || end - start >= least) return [start, end];
  const widened = Math.floor((start + end - least) / 2);
  const inside = Math.max(0, Math.min(size - least, widened));
  return [inside, inside + least];
}
