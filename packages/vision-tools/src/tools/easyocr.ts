/** Reads text: VISTA's EasyOCR. */
import { z } from 'zod';
import { defineVisionTool, imageAt, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

const words = z.object({
  words: z.array(z.object({ text: z.string(), box: z.array(z.number()), confidence: z.number() })),
});

export const easyocr = defineVisionTool({
  name: 'easyocr',
  description: 'Reads the text of an image and says where it is.',
  says: 'PP-OCRv4 in OpenCV.',
  parameters: {
    min_confidence: z.number().min(0).max(1).optional().describe('0.5 by default.'),
    image_index: z.int().min(0).max(9999).optional().describe('Counted from 0; 0 by default.'),
  },
  example: {},
  operations: ['ocr'],
  async embedded({ min_confidence = 0.5, image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    const { result, ms } = await engine.run('ocr', { minConfidence: min_confidence }, [image]);
    const found = words
      .parse(result)
      .words.map(({ text, box }) => `${text} [${box.map(Math.round).join(', ')}]`);
    const text = found.length === 0 ? 'No text found.' : found.join(' | ');
    return answered(`EasyOCR Detection Result:\n${text}`, { ms });
  },
});
