import { box, color, imageIndex, strokeWidth } from '../arguments.ts';
import { drawShape } from '../draw.ts';
import { refused } from '../refused.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Draws the outline of a box onto an image. */
export const imageDrawBoxTool: Tool = defineTool({
  name: 'image_draw_box_tool',
  description: 'Draws the outline of a box onto a picture.',
  parameters: { bbox_2d: box, color: color, width: strokeWidth, image_index: imageIndex },
  example: { bbox_2d: [10, 10, 60, 50] },
  isDeterministic: true,
  async run({ bbox_2d, ...stroke }, context) {
    const [left, top, right, bottom] = bbox_2d;
    if (left > right || top > bottom) {
      return refused(
        'BadArgument',
        'Sides of the box are swapped. Write left, top, right, bottom.',
      );
    }
    return drawShape(context, 'rectangle', bbox_2d, stroke);
  },
});
