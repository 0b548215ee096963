/** Segments what a box or points name: VISTA's SAM 2. */
import { refused, type ToolImage } from '@saccade/tools';
import { z } from 'zod';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered, declined, madeOf } from '../outcomes.ts';

const point = z.tuple([z.number(), z.number()]);
const answer = z.object({
  masks: z.array(
    z.object({
      box: z.tuple([z.int(), z.int(), z.int(), z.int()]).nullable(),
      area: z.int(),
      score: z.number(),
    }),
  ),
  index: z.int(),
});

export const sam2 = defineVisionTool({
  name: 'sam2',
  description:
    'Segments one thing of an image: give a box around it, or points on it (label 1) and beside it ' +
    '(label 0). Answers with its mask: the box around it, its area, and the image with the mask on it.',
  says:
    'GrabCut for boxes and masks, regions of steady color for points; no network, so a thing whose ' +
    'colors are those of its surroundings is not separated well. It knows no medical images.',
  parameters: {
    task: z.enum(['standard', 'refinement', 'smart_medical_segment']).optional(),
    box_prompt: z
      .tuple([z.number(), z.number(), z.number(), z.number()])
      .optional()
      .describe('[left, top, right, bottom] in pixels.'),
    point_prompts: z.array(point).min(1).max(100).optional().describe('[x, y] in pixels, each.'),
    point_labels: z
      .array(z.literal([0, 1]))
      .max(100)
      .optional()
      .describe('1 on the thing, 0 beside it; all 1 by default.'),
    mask_prompt: z.int().min(0).max(9999).optional().describe('Index of a mask made before.'),
    multimask_output: z.boolean().optional().describe('Whether points give up to three masks.'),
    mask_idx: z.int().min(0).max(2).optional().describe('Which mask is shown; 0 by default.'),
    output: z
      .enum(['overlay', 'mask', 'both'])
      .optional()
      .describe('The image with the mask on it, or the mask in white on black.'),
    image_index: imageIndex,
  },
  example: { box_prompt: [320, 226, 410, 316] },
  operations: ['segment'],
  async embedded(given, context, engine) {
    const { box_prompt, point_prompts: points = [], mask_prompt } = given;
    const { point_labels: labels = points.map(() => 1 as const) } = given;
    if (given.task === 'smart_medical_segment') {
      return declined('CannotAnswer', 'No model of medical images is here. Give a box or points.');
    }
    const image = imageAt(context, given.image_index ?? 0);
    if (isOutcome(image)) return image;
    const mask = mask_prompt === undefined ? undefined : imageAt(context, mask_prompt);
    if (mask !== undefined && isOutcome(mask)) return mask;
    const problem = problemOf({ box: box_prompt, points, labels, mask }, image);
    if (problem !== undefined) return refused(...problem);
    const box = box_prompt === undefined ? undefined : clamped(box_prompt, image);
    const params = {
      ...(box === undefined ? {} : { box }),
      points,
      labels,
      hasMask: mask !== undefined,
      isMultiple: given.multimask_output ?? true,
      index: given.mask_idx ?? 0,
      output: given.output ?? 'overlay',
    };
    const inputs = mask === undefined ? [image] : [image, mask];
    const { result, images } = await engine.run('segment', params, inputs);
    const { masks, index } = answer.parse(result);
    if (masks[index]?.box == null) {
      return declined('NothingFound', 'Nothing was separated there. Give another box or points.');
    }
    const lines = masks.map((one, at) => {
      const share = (100 * one.area) / (image.width * image.height);
      const where = `box [${one.box?.join(', ') ?? ''}], area ${one.area} pixels`;
      const shown = at === index ? ' (shown)' : '';
      return `mask ${at}${shown}: ${where} (${share.toFixed(1)}% of the image), score ${one.score}`;
    });
    return answered(`SAM2 Segmentation Result:\n${lines.join('\n')}`, {
      images: images.map((made) => madeOf(image, made)),
    });
  },
});

interface Prompts {
  readonly box: readonly [number, number, number, number] | undefined;
  readonly points: readonly (readonly [number, number])[];
  readonly labels: readonly (0 | 1)[];
  readonly mask: ToolImage | undefined;
}

/** Describes the problem with the prompts of a call; undefined if there is none. */
function problemOf(
  { box, points, labels, mask }: Prompts,
  { width, height }: ToolImage,
): ['MissingArgument' | 'BadArgument', string] | undefined {
  if (box === undefined && mask === undefined && points.length === 0) {
    return [
      'MissingArgument',
      'There is no prompt. Give box_prompt, point_prompts or mask_prompt.',
    ];
  }
  if (labels.length !== points.length) {
    return ['BadArgument', `There are ${points.length} points and ${labels.length} labels.`];
  }
  if (box === undefined && mask === undefined && !labels.includes(1)) {
    return ['BadArgument', 'No point has label 1. Give one that is on the thing.'];
  }
  const isOutside = ([x, y]: readonly [number, number]): boolean =>
    x < 0 || y < 0 || x >= width || y >= height;
  const outside = points.find(isOutside);
  if (outside !== undefined) {
    const size = `the image of ${width} x ${height}`;
    return ['BadArgument', `The point [${outside.join(', ')}] is outside of ${size}.`];
  }
  if (box === undefined) return undefined;
  const [left, top, right, bottom] = clamped(box, { width, height });
  if (right - left >= 2 && bottom - top >= 2) return undefined;
  return ['BadArgument', 'The argument box_prompt holds nothing of the image.'];
}

function clamped(
  [left, top, right, bottom]: readonly [number, number, number, number],
  { width, height }: Pick<ToolImage, 'width' | 'height'>,
): [number, number, number, number] {
  const inside = (value: number, end: number): number => Math.min(Math.max(value, 0), end);
  return [inside(left, width), inside(top, height), inside(right, width), inside(bottom, height)];
}
