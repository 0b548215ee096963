/** Joins lines of text that follow each other closely into paragraphs. */
import type { Word } from './words.ts';

type Line = Pick<Word, 'text' | 'box'>;

/** Lines that overlap from left to right, less than their height apart, are one paragraph. */
export function paragraphsOf(lines: readonly Line[]): readonly Line[] {
  const paragraphs: { text: string; box: Line['box']; height: number }[] = [];
  for (const { text, box } of lines) {
    const [left, top, right, bottom] = box;
    const height = bottom - top;
    const above = paragraphs.findLast(
      (one) =>
        one.box[0] < right &&
        left < one.box[2] &&
        top - one.box[3] < 0.9 * Math.min(height, one.height) &&
        top - one.box[3] > -0.5 * height &&
        Math.max(height, one.height) < 1.5 * Math.min(height, one.height),
    );
    if (above === undefined) {
      paragraphs.push({ text, box, height });
      continue;
    }
    const isBroken = /\p{L}-$/u.test(above.text) && /^\p{Ll}/u.test(text);
    above.text = isBroken ? above.text.slice(0, -1) + text : `${above.text} ${text}`;
    const [l, t, r] = above.box;
    above.box = [Math.min(l, left), t, Math.max(r, right), bottom];
  }
  return paragraphs.map(({ text, box }) => ({ text, box }));
}
