import { z } from 'zod';
import { imageIndex } from '../arguments.ts';
import { runOnImage } from '../run-on-image.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Quarter turns are exact: no pixel is interpolated. */
const quarters = new Map([
  [90, 'ROTATE_90'],
  [180, 'ROTATE_180'],
  [270, 'ROTATE_270'],
]);

/**
 * Turns an image counter-clockwise; its frame grows so that nothing is lost.
 *
 * DeepEyes' tool of the same name, which VISTA-Gym carries (its `deepeyes` handler).
 */
export const imageRotateTool: Tool = defineTool({
  name: 'image_rotate_tool',
  description: 'Turns a picture counter-clockwise.',
  parameters: {
    angle: z.number().min(-360).max(360).describe('Degrees, counter-clockwise.'),
    image_index: imageIndex,
  },
  example: { angle: 90 },
  isDeterministic: true,
  run({ angle, image_index = 0 }, context) {
    const turned = ((angle % 360) + 360) % 360;
    const quarter = quarters.get(turned);
    const script =
      quarter === undefined
        ? `image.rotate(${turned}, resample=Image.Resampling.BICUBIC, expand=True).show()`
        : `image.transpose(Image.Transpose.${quarter}).show()`;
    return runOnImage(context, image_index, [script]);
  },
});
