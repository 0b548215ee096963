/** The part that curricula share: measure pass rates of tasks, then train on those in a window. */
import type { AdvantagedGroup } from './advantaged-group.ts';
import { allOf, collectRounds, dropGroup } from './collect.ts';
import { expectWindow, outside, type PassRateWindow, passRate } from './filters/pass-rate.ts';
import type { ScheduleCommand, Scheduler, SchedulerOptions } from './scheduler.ts';

export interface ProbeOptions extends SchedulerOptions, PassRateWindow {
  /** Tasks measured in a round: a group of G trajectories each. */
  readonly probeTasks: number;
  /** Steps after which pass rates are measured again, on new tasks; 0 for never. */
  readonly refreshEverySteps: number;
  /** Most rounds of measuring in a step, where too few tasks are within the window. */
  readonly maxRounds: number;
}

interface Memory {
  readonly isProbing: boolean;
  /** Tasks within the window, in the order they were found. */
  readonly pool: readonly string[];
  /** Index in the pool of the next to train on. */
  readonly next: number;
  /** Steps trained since the pool was made. */
  readonly steps: number;
  /** Rounds of measuring in this step. */
  readonly rounds: number;
}

const EMPTY: Memory = { isProbing: false, pool: [], next: 0, steps: 0, rounds: 0 };

/**
 * A scheduler that rolls out `probeTasks` tasks to measure their pass rates, keeps those within the
 * window as its pool, and from then on trains on the pool alone: B tasks a step, in order, round
 * and round. The groups that measured are dropped as `probed`, `tooEasy` or `tooHard`.
 *
 * It measures until the pool has a batch. If it has none after `maxRounds`, it says `exhausted` and
 * trains on what it has.
 */
export function probeThenTrain(name: string, options: ProbeOptions): Scheduler {
  const { promptsPerStep: wanted, probeTasks, refreshEverySteps, maxRounds } = options;
  expectWindow(options);

  type Answer = readonly [Memory, readonly ScheduleCommand[]];
  const probe = (memory: Memory): Answer => [
    { ...memory, isProbing: true, rounds: memory.rounds + 1 },
    [{ kind: 'rollOut', count: probeTasks }],
  ];
  const train = (memory: Memory): Answer => {
    const { pool, next } = memory;
    const count = Math.min(wanted, pool.length);
    const taskIds = Array.from(
      { length: count },
      (_, i) => pool[(next + i) % pool.length] as string,
    );
    const after = { ...memory, isProbing: false, next: (next + count) % pool.length };
    return [after, [{ kind: 'rollOutAgain', taskIds }]];
  };
  const exhausted = ({ rounds, pool }: Memory) =>
    ({ kind: 'exhausted', rounds, filled: Math.min(pool.length, wanted), wanted }) as const;

  return collectRounds<Memory>(name, options, {
    memory: EMPTY,
    start(memory) {
      const isDue = refreshEverySteps > 0 && memory.steps >= refreshEverySteps;
      if (memory.pool.length === 0 || isDue) return probe(EMPTY);
      return train({ ...memory, rounds: 0 });
    },
    decide(memory, groups) {
      if (!memory.isProbing) {
        const isShort = memory.pool.length < wanted;
        const batch = { kind: 'trainOn', trajectories: allOf(groups) } as const;
        return [
          { ...memory, steps: memory.steps + 1 },
          [...(isShort ? [exhausted(memory)] : []), batch],
        ];
      }
      const measured = groups.map((group) => [group, outside(passRate(group), options)] as const);
      const drops = measured.map(([{ taskId }, reason]) => dropGroup(taskId, reason ?? 'probed'));
      const found = idsOf(measured.filter(([, reason]) => reason === undefined).map(([g]) => g));
      const after = { ...memory, pool: [...new Set([...memory.pool, ...found])] };
      const isLast = after.rounds >= maxRounds;
      if (after.pool.length >= wanted || (isLast && after.pool.length > 0)) {
        const [trained, commands] = train(after);
        return [trained, [...drops, ...commands]];
      }
      if (!isLast) {
        const [probing, commands] = probe(after);
        return [probing, [...drops, ...commands]];
      }
      return [EMPTY, [...drops, exhausted(after), { kind: 'trainOn', trajectories: [] }]];
    },
  });
}

function idsOf(groups: readonly AdvantagedGroup[]): readonly string[] {
  return groups.map(({ taskId }) => taskId);
}
