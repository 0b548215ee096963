/** A study as a CSV file for a spreadsheet: blind, in a rater's order, with a column to fill. */
import { writeCsv } from '@saccade/report';
import { isToolUse, type Trajectory } from '@saccade/trajectory';
import { ratingColumns } from './rating-files.ts';
import type { FindTrajectory } from './rating-page.ts';
import type { StudyKey } from './study.ts';

/**
 * The rows of one rater, with the column `rating` empty. Images are not in it: what the models answered
 * is, and how often they used tools.
 */
export async function drawRatingCsv(
  key: StudyKey,
  rater: string,
  find: FindTrajectory,
): Promise<string> {
  const names =
    key.mode === 'pairs' ? ['answer_a', 'calls_a', 'answer_b', 'calls_b'] : ['answer', 'calls'];
  const items = new Map(key.items.map((item) => [item.id, item]));
  const rows: (string | number)[][] = [[...ratingColumns, 'question', ...names]];
  for (const { id, isSwapped } of key.orders[rater] ?? []) {
    const item = items.get(id);
    if (item === undefined) continue;
    const models = isSwapped ? [...item.models].reverse() : item.models;
    const shown = await Promise.all(models.map((model) => find(model, item.taskId)));
    const sides = shown.flatMap((one) =>
      one === undefined ? ['', ''] : [one.trajectory.answer ?? '', callsOf(one.trajectory)],
    );
    rows.push([key.study, rater, id, '', '', shown[0]?.question ?? '', ...sides]);
  }
  return writeCsv(rows);
}

function callsOf({ turns }: Trajectory): number {
  return turns.filter(({ action }) => isToolUse(action)).length;
}
