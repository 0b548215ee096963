/** The part that schedulers of steps share: roll out a round, wait for all of it, decide. */
import { ConfigError, StateError } from '@saccade/core';
import { type AdvantagedGroup, withAdvantages } from './advantaged-group.ts';
import { limitInFlight } from './in-flight.ts';
import type {
  AdvantagedTrajectory,
  DropReason,
  ScheduleCommand,
  ScheduleEvent,
  Scheduler,
  SchedulerOptions,
} from './scheduler.ts';

/** Where a step stands. Between steps nothing is waited for and no group is held. */
interface CollectState<Memory> {
  /** Groups asked for and not yet answered for. */
  readonly waiting: number;
  /** Groups of this round, in the order of their events. */
  readonly groups: readonly AdvantagedGroup[];
  /** The scheduler's memory between rounds and between steps. */
  readonly memory: Memory;
  readonly isEnded: boolean;
}

export type Drop = Extract<ScheduleCommand, { kind: 'drop' }>;

/** The trajectories of a step's groups to train on, and those to drop. */
export interface Selection {
  readonly trajectories: readonly AdvantagedTrajectory[];
  readonly drops: readonly Drop[];
}

/** A scheduler told by what it does at the start of a step and at the end of a round. */
export interface Rounds<Memory> {
  readonly memory: Memory;
  /** The commands of the first round. */
  start(memory: Memory): readonly [Memory, readonly ScheduleCommand[]];
  /** Either commands that roll out more, or commands of which one is `trainOn`. */
  decide(
    memory: Memory,
    groups: readonly AdvantagedGroup[],
  ): readonly [Memory, readonly ScheduleCommand[]];
  /** The groups of earlier rounds in memory, or trajectories where they have an index. */
  held?(memory: Memory): readonly { readonly taskId: string; readonly sampleIndex?: number }[];
}

/** A scheduler that works in rounds, within the limits of its options. */
export function collectRounds<Memory>(
  name: string,
  options: SchedulerOptions,
  rounds: Rounds<Memory>,
): Scheduler {
  expectCount('promptsPerStep', options.promptsPerStep);
  expectCount('groupSize', options.groupSize);
  type State = CollectState<Memory>;
  const advance = (
    state: State,
    [memory, commands]: readonly [Memory, readonly ScheduleCommand[]],
  ): readonly [State, readonly ScheduleCommand[]] => [
    { ...state, memory, groups: [], waiting: countGroups(commands) },
    commands,
  ];
  const scheduler: Scheduler<State> = {
    name,
    maxStaleness: 0,
    init: () => ({ waiting: 0, groups: [], memory: rounds.memory, isEnded: false }),
    next(state, event) {
      if (event.kind === 'stepStarted') {
        expectStart(state, event.step);
        return advance(state, rounds.start(state.memory));
      }
      if (event.kind === 'runEnded') {
        const held = [...(rounds.held?.(state.memory) ?? []), ...state.groups];
        const drops = held.map((one) => {
          const drop = dropGroup(one.taskId, 'runEnded');
          return 'sampleIndex' in one ? { ...drop, sampleIndex: one.sampleIndex as number } : drop;
        });
        return [{ ...state, groups: [], memory: rounds.memory, isEnded: true }, drops];
      }
      if (!isEnd(event)) return [state, []];
      if (state.waiting === 0) {
        throw new StateError(`A ${event.kind} came that nobody waits for. Start a step first.`);
      }
      const after = { ...state, waiting: state.waiting - 1 };
      const reason = lostReason(event);
      const taskId = event.kind === 'groupScored' ? event.group.taskId : event.taskId;
      if (state.isEnded) return [after, [dropGroup(taskId, 'runEnded')]];
      const groups =
        event.kind === 'groupScored' && reason === undefined
          ? [...state.groups, withAdvantages(event.group, options.advantages)]
          : state.groups;
      const lost = reason === undefined ? [] : [dropGroup(taskId, reason)];
      if (after.waiting > 0) return [{ ...after, groups }, lost];
      const [decided, commands] = advance(after, rounds.decide(state.memory, groups));
      return [decided, [...lost, ...commands]];
    },
  };
  return limitInFlight(scheduler as Scheduler, options);
}

/** A scheduler that rolls out `count` groups per step and selects once all of them are there. */
export function collectThenSelect(
  name: string,
  count: number,
  options: SchedulerOptions,
  select: (groups: readonly AdvantagedGroup[]) => Selection,
): Scheduler {
  return collectRounds<null>(name, options, {
    memory: null,
    start: () => [null, [{ kind: 'rollOut', count }]],
    decide(_, groups) {
      const { trajectories, drops } = select(groups);
      return [null, [...drops, { kind: 'trainOn', trajectories }]];
    },
  });
}

/** The events after which nothing more comes of a task. */
export type EndEvent = Extract<
  ScheduleEvent,
  { kind: 'groupScored' | 'groupFailed' | 'groupCancelled' }
>;

export function isEnd(event: ScheduleEvent): event is EndEvent {
  return /^group(?:Scored|Failed|Cancelled)$/.test(event.kind);
}

/** Why nothing is left of a group; undefined if something is. */
export function lostReason(event: EndEvent): DropReason | undefined {
  if (event.kind === 'groupCancelled') return event.reason;
  if (event.kind === 'groupFailed') return 'groupFailed';
  return event.group.trajectories.length === 0 ? 'groupFailed' : undefined;
}

export function dropGroup(taskId: string, reason: DropReason): Drop {
  return { kind: 'drop', taskId, reason };
}

/** Groups that commands ask for. */
function countGroups(commands: readonly ScheduleCommand[]): number {
  return commands.reduce((sum, command) => {
    if (command.kind === 'rollOut') return sum + command.count;
    return command.kind === 'rollOutAgain' ? sum + command.taskIds.length : sum;
  }, 0);
}

/** All trajectories of groups, with what was fixed for them. */
export function allOf(groups: readonly AdvantagedGroup[]): readonly AdvantagedTrajectory[] {
  return groups.flatMap((group) => group.trajectories.map((_, index) => advantaged(group, index)));
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

function expectStart({ waiting, isEnded }: CollectState<unknown>, step: number): void {
  if (isEnded)
    throw new StateError(`Step ${step} cannot start: the run has ended. Begin a new one.`);
  if (waiting === 0) return;
  throw new StateError(
    `Step ${step} cannot start: ${waiting} groups of the last one are out. ` +
      'Send a groupScored, groupFailed or groupCancelled for each of them first.',
  );
}

/** @throws ConfigError unless the option is a whole number of at least `least` */
export function expectCount(option: string, value: number, least = 1): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new ConfigError(
    `scheduler.${option}`,
    `${option} must be a whole number of at least ${least}, is ${value}.`,
  );
}
