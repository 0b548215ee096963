/** The part schedulers share: roll out a number of groups, wait for all, decide once. */
import { ConfigError, StateError } from '@saccade/core';
import { type AdvantagedGroup, withAdvantages } from './advantaged-group.ts';
import type {
  AdvantagedTrajectory,
  ScheduleCommand,
  Scheduler,
  SchedulerOptions,
} from './scheduler.ts';

/** Between steps nothing is waited for and nothing is held: there is nothing to checkpoint. */
export interface CollectState {
  /** Groups rolled out and not yet answered for. */
  readonly waiting: number;
  /** Groups of this step, in the order of their events. */
  readonly groups: readonly AdvantagedGroup[];
}

/** What to train on of a step's groups, and what not. */
export interface Selection {
  readonly trajectories: readonly AdvantagedTrajectory[];
  readonly drops: readonly Extract<ScheduleCommand, { kind: 'drop' }>[];
}

/** A scheduler that rolls out `count` groups per step and selects once all of them are there. */
export function collectThenSelect(
  name: string,
  count: number,
  options: SchedulerOptions,
  select: (groups: readonly AdvantagedGroup[]) => Selection,
): Scheduler<CollectState> {
  return {
    name,
    init: () => ({ waiting: 0, groups: [] }),
    next(state, event) {
      if (event.kind === 'stepStarted') {
        if (state.waiting > 0) {
          throw new StateError(
            `Step ${event.step} cannot start: ${state.waiting} groups of the last one are out. ` +
              'Send a groupScored or groupFailed for each of them first.',
          );
        }
        return [{ waiting: count, groups: [] }, [{ kind: 'rollOut', count }]];
      }
      if (state.waiting === 0) {
        throw new StateError(`A ${event.kind} came that nobody waits for. Start a step first.`);
      }
      const group = event.kind === 'groupScored' ? event.group : undefined;
      const taskId = event.kind === 'groupScored' ? event.group.taskId : event.taskId;
      const lost: ScheduleCommand[] = [];
      let { groups } = state;
      if (group !== undefined && group.trajectories.length > 0) {
        groups = [...groups, withAdvantages(group, options.advantages)];
      } else {
        lost.push({ kind: 'drop', taskId, reason: 'groupFailed' });
      }
      const waiting = state.waiting - 1;
      if (waiting > 0) return [{ waiting, groups }, lost];
      const { trajectories, drops } = select(groups);
      return [{ waiting: 0, groups: [] }, [...lost, ...drops, { kind: 'trainOn', trajectories }]];
    },
  };
}

/** The trajectory at an index of its group, with what was fixed for it. */
export function advantaged(
  group: AdvantagedGroup,
  index: number,
  isMasked = false,
): AdvantagedTrajectory {
  const trajectory = group.trajectories[index];
  const advantage = group.advantages[index];
  if (trajectory === undefined || advantage === undefined) {
    throw new StateError(`Group ${group.taskId} has no trajectory ${index}.`);
  }
  return { trajectory, advantage, groupStd: group.std, isMasked };
}

/** @throws ConfigError unless the option is a whole number of at least 1 */
export function expectCount(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new ConfigError(
    `scheduler.${option}`,
    `${option} must be a whole number of at least 1, is ${value}.`,
  );
}
