/** Numbers of a step by the source of its tasks: the data sets of a mixture, side by side. */
import type { Task } from '@saccade/gym';
import type { ScoredGroupResult } from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { countLooks, meanOf } from './trajectory-metrics.ts';

/**
 * For tasks that say where they are from (`metadata.source`):
 *
 * - `source/<source>/accuracy` trajectories whose answer was judged right;
 * - `source/<source>/reward` their mean reward;
 * - `source/<source>/tool_calls/mean` calls of tools per trajectory;
 * - `source/<source>/share` their share of all trajectories that have a source.
 *
 * Metrics to which no task contributes are absent.
 */
export function sourceMetrics(
  results: readonly ScoredGroupResult[],
  tasks: readonly Task[],
): Record<string, number> {
  const sources = new Map(tasks.map(({ id, metadata }) => [id, metadata.source]));
  const known = new Map<string, ScoredTrajectory[]>();
  let count = 0;
  for (const { scored } of results) {
    const source = sources.get(scored.taskId);
    if (typeof source !== 'string') continue;
    known.set(source, [...(known.get(source) ?? []), ...scored.trajectories]);
    count += scored.trajectories.length;
  }
  const metrics: Record<string, number> = {};
  for (const [source, trajectories] of known) {
    const name = `source/${source.replace(/[^\w.-]/g, '-')}`;
    Object.assign(
      metrics,
      meanOf(
        `${name}/accuracy`,
        trajectories.map(({ isCorrect }) => (isCorrect ? 1 : 0)),
      ),
      meanOf(
        `${name}/reward`,
        trajectories.map(({ reward }) => reward),
      ),
      meanOf(`${name}/tool_calls/mean`, trajectories.map(countLooks)),
      { [`${name}/share`]: trajectories.length / count },
    );
  }
  return metrics;
}
