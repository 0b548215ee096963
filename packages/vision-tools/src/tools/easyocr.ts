/** Reads text: VISTA's EasyOCR. */
import { refused } from '@saccade/tools';
import { z } from 'zod';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered, declined } from '../outcomes.ts';
import { mathLines } from '../reading/math-lines.ts';
import { paragraphsOf } from '../reading/paragraphs.ts';
import { markdownOf, tableOf } from '../reading/table.ts';
import { type Word, wordsOf } from '../reading/words.ts';

const tasks = [
  'detect_and_recognize',
  'detect_only',
  'recognize_only',
  'extract_table',
  'extract_by_region',
  'extract_math',
] as const;
/** EasyOCR's codes of what the recognizer has symbols for. */
const languages = ['en', 'ch_sim'];
const prefix = 'EasyOCR Detection Result:\n';

interface Layout {
  readonly detail?: 0 | 1 | undefined;
  readonly row_tolerance?: number | undefined;
}

type Line = Pick<Word, 'text' | 'box'>;
const boxText = ({ box }: Line): string => `[${box.map(Math.round).join(', ')}]`;

export const easyocr = defineVisionTool({
  name: 'easyocr',
  description:
    'Reads the text of an image. Tasks: detect_and_recognize gives each line with its box, ' +
    'detect_only the boxes, recognize_only the text, extract_table a table in Markdown, ' +
    'extract_by_region the text inside a region, extract_math the lines with formulas.',
  says: 'PP-OCRv4 in OpenCV, for English and Chinese; formulas as far as they are one line of symbols.',
  parameters: {
    task: z.enum(tasks).optional().describe('detect_and_recognize by default.'),
    languages: z.array(z.string().max(20)).max(20).optional().describe('["en"] by default.'),
    detail: z.literal([0, 1]).optional().describe('0 leaves the boxes out; 1 by default.'),
    paragraph: z.boolean().optional().describe('Whether lines are joined into paragraphs.'),
    min_confidence: z.number().min(0).max(1).optional().describe('0.5 by default.'),
    region: z
      .tuple([z.number(), z.number(), z.number(), z.number()])
      .optional()
      .describe('[left, top, right, bottom] in pixels, for extract_by_region.'),
    row_tolerance: z
      .number()
      .min(0)
      .max(10_000)
      .optional()
      .describe('Pixels between the middles of cells in one row; 10 by default.'),
    image_index: imageIndex,
  },
  example: { task: 'detect_and_recognize' },
  operations: ['ocr'],
  async embedded(given, context, engine) {
    const { task = 'detect_and_recognize', min_confidence = 0.5, region } = given;
    const image = imageAt(context, given.image_index ?? 0);
    if (isOutcome(image)) return image;
    const strange = given.languages?.filter((language) => !languages.includes(language)) ?? [];
    if (strange.length > 0) {
      const which = strange.join(', ');
      return declined('CannotAnswer', `The reader here knows no ${which}. Write en or ch_sim.`);
    }
    if (task === 'extract_by_region' && region === undefined) {
      return refused('MissingArgument', 'The argument region is missing. Give it.');
    }
    if (region !== undefined && !(region[0] < region[2] && region[1] < region[3])) {
      return refused('BadArgument', 'The argument region holds nothing. Write [l, t, r, b].');
    }
    const params = {
      minConfidence: min_confidence,
      isRead: task !== 'detect_only',
      ...(region === undefined ? {} : { region }),
    };
    const { result } = await engine.run('ocr', params, [image]);
    const words = wordsOf(result);
    const lines = given.paragraph === true ? paragraphsOf(words) : words;
    return answered(prefix + textOf(task, lines, words, given));
  },
});

function textOf(
  task: (typeof tasks)[number],
  lines: readonly Line[],
  words: readonly Word[],
  { detail = 1, row_tolerance = 10 }: Layout,
): string {
  if (words.length === 0) return 'No text found.';
  switch (task) {
    case 'detect_only':
      return lines.map(boxText).join(' | ');
    case 'recognize_only':
      return lines.map(({ text }) => text).join('\n');
    case 'extract_table':
      return markdownOf(tableOf(words, row_tolerance));
    case 'extract_math': {
      const found = mathLines(words);
      if (found.length === 0) return 'No formulas found.';
      return found.map((line) => `${line.text} ${boxText(line)}`).join('\n');
    }
    default:
      if (detail === 0) return lines.map(({ text }) => text).join(' | ');
      return lines.map((line) => `${line.text} ${boxText(line)}`).join(' | ');
  }
}
