/** Lines of text as the operation `ocr` gives them. */
import { z } from 'zod';

const number4 = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const point = z.tuple([z.number(), z.number()]);
const answer = z.object({
  words: z.array(
    z.object({
      text: z.string(),
      box: number4,
      quad: z.tuple([point, point, point, point]),
      confidence: z.number(),
      /** Where along the line each symbol is, from 0 to 1. */
      places: z.array(z.number()),
    }),
  ),
});

/** A line of text, with its box [l, t, r, b] in pixels of the image. */
export type Word = z.output<typeof answer>['words'][number];

/** @throws ZodError if the operation gave something else */
export function wordsOf(result: unknown): readonly Word[] {
  return answer.parse(result).words;
}
