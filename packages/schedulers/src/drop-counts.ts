/** Counts what was not trained on, by reason. */
import type { DropReason, ScheduleCommand } from './scheduler.ts';

/** Groups and single trajectories dropped by these commands, for every reason that occurred. */
export function countDrops(
  commands: readonly ScheduleCommand[],
): Readonly<Partial<Record<DropReason, { groups: number; trajectories: number }>>> {
  const counts: Partial<Record<DropReason, { groups: number; trajectories: number }>> = {};
  for (const command of commands) {
    if (command.kind !== 'drop') continue;
    const count = counts[command.reason] ?? { groups: 0, trajectories: 0 };
    if (command.sampleIndex === undefined) count.groups++;
    else count.trajectories++;
    counts[command.reason] = count;
  }
  return counts;
}
