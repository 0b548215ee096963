/** Answers that are a box in an image. */

import { type Box, intersectionOverUnion } from '@saccade/code-effects';
import { defineVerifier } from '../define-verifier.ts';

/**
 * Overlap of two boxes over what they cover together.
 *
 *   IoU = |A ∩ B| / |A ∪ B|
 *
 * Everingham et al. 2010 (PASCAL VOC), doi:10.1007/s11263-009-0275-4, §4.2. Reads the first four
 * numbers of `[x1, y1, x2, y2]`, `{"bbox_2d": […]}` or `(x1,y1),(x2,y2)`; a text with other than four
 * numbers, or a box without area, scores 0.
 */
export const boxIou = defineVerifier({
  name: 'box-iou',
  description: 'Intersection over union of two boxes.',
  paper: 'doi:10.1007/s11263-009-0275-4, §4.2',
  example: '[0, 0, 10, 10]',
  verify(answer, expected) {
    const [a, e] = [boxIn(answer), boxIn(expected)];
    return a === undefined || e === undefined ? 0 : intersectionOverUnion(a, e);
  },
});

function boxIn(text: string): Box | undefined {
  const plain = text.slice(0, 1000).replace(/bbox_?2d/gi, 'box');
  const found = plain.match(/-?(?:\d+(?:\.\d+)?|\.\d+)/g) ?? [];
  const [left, top, right, bottom] = found.map(Number);
  if (left === undefined || top === undefined || right === undefined || bottom === undefined) {
    return undefined;
  }
  const isBox = found.length === 4 && right > left && bottom > top;
  return isBox && Number.isFinite((right - left) * (bottom - top))
    ? [left, top, right, bottom]
    : undefined;
}
