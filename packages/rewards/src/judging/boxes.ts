/** Rules in place of a model: they know where the answer lies. For small runs and for tests of rewards. */
import { quantity } from '@saccade/core/settings';
import { isToolUse } from '@saccade/trajectory';
import { z } from 'zod';
import { gradeByBox, stepOverlaps } from '../box-evidence.ts';
import { RewardError } from '../score.ts';
import { defineJudging } from './judging-unit.ts';

/**
 * Grades crops by their overlap with the task's box (`metadata.box`), and consistency by the order of
 * things alone.
 *
 * - Evidence: 1 for a crop that fits the box, 0.5 for one that shows it cut off or among much else,
 *   0.25 for other images, 0 for an execution without an image: the scale of CodeV's template 13.2.
 * - Consistency: 1 if the answer directly follows an execution that gave an image, else 0. A judge of
 *   consistency reads text and sees no image; the text of a nano policy has no thoughts, so all that
 *   can be read from it is whether it looked before it answered. Where it looked is not asked.
 *
 * Only tasks with a box can be graded, so nothing here replaces a model on tasks without one.
 */
export const boxes = defineJudging({
  name: 'boxes',
  description:
    'Rules grade crops by the task’s box, and consistency by whether a look came before.',
  settings: z.strictObject({
    clearIou: quantity({
      min: 0.01,
      max: 1,
      default: 0.5,
      unit: 'IoU',
      about: 'A crop with this IoU with the task’s box shows it clearly: grade 1.',
    }),
    partlyShare: quantity({
      min: 0.01,
      max: 1,
      default: 0.25,
      unit: 'share',
      about: 'A crop that covers this share of the box shows it partly: grade 0.5.',
    }),
  }),
  open(settings) {
    return {
      rules: {
        steps(trajectory, context) {
          const overlaps = stepOverlaps(trajectory, context);
          const imageCounts = trajectory.turns.flatMap(({ action, result }) =>
            isToolUse(action) ? [result?.imageCount ?? 0] : [],
          );
          if (overlaps !== undefined) return gradeByBox(overlaps, imageCounts, settings);
          // No box is asked about where no search is needed: the term has a score of its own there.
          if (context.metadata.needsSearch === false) return imageCounts.map(() => 0);
          throw new RewardError(
            `judge boxes: the task of ${trajectory.id} has no metadata.box to grade crops by. Take ` +
              'a task set that knows it, or judge=openai.',
          );
        },
        consistency({ turns, answer }) {
          const before = turns.at(-2);
          const hasLooked =
            before !== undefined && isToolUse(before.action) && before.result?.kind === 'ok';
          const isAnswer = turns.at(-1)?.action.kind === 'answer' && (answer ?? '').trim() !== '';
          return isAnswer && hasLooked && (before.result?.imageCount ?? 0) > 0 ? 1 : 0;
        },
      },
    };
  },
});
