import { z } from 'zod';
import { imageIndex } from '../arguments.ts';
import { runOnImage } from '../run-on-image.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Makes an image larger or smaller. */
export const imageResizeTool: Tool = defineTool({
  name: 'image_resize_tool',
  description: 'Makes a picture larger or smaller.',
  parameters: {
    scale: z.number().min(0.05).max(8).describe('New size over old; 2 doubles both sides.'),
    image_index: imageIndex,
  },
  example: { scale: 0.5 },
  isDeterministic: true,
  run({ scale, image_index = 0 }, context) {
    const script = `image.resize(
    tuple(max(1, round(side * ${scale})) for side in image.size), Image.Resampling.LANCZOS
).show()`;
    return runOnImage(context, image_index, [script]);
  },
});
