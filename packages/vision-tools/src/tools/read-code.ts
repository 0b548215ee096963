/** Reads QR codes and barcodes. */
import { z } from 'zod';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

const answer = z.object({
  codes: z.array(
    z.object({ kind: z.string(), text: z.string(), box: z.array(z.number()).length(4) }),
  ),
});

export const readCode = defineVisionTool({
  name: 'read_code',
  description: 'Reads the QR codes and the barcodes of an image, with a box for each.',
  says: 'OpenCV, for QR codes and EAN-13, EAN-8, UPC-A and UPC-E barcodes.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['codes'],
  async embedded({ image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    const { result } = await engine.run('codes', {}, [image]);
    const lines = answer
      .parse(result)
      .codes.map(({ kind, text, box }) => `${kind}: ${text} [${box.map(Math.round).join(', ')}]`);
    const text = lines.length === 0 ? 'No code found.' : lines.join('\n');
    return answered(`Code Reading Result:\n${text}`);
  },
});
