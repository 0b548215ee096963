/** Admission and deadlines around any scheduler: what does not fit waits, what is late is cut. */
import { ConfigError } from '@saccade/core';
import type {
  InFlightLimits,
  ScheduleCommand,
  ScheduleEvent,
  Scheduler,
  SchedulerOptions,
} from './scheduler.ts';

/** G, and the baselines of a task. */
export function rolloutsPerTask({
  groupSize,
  baselinesPerTask = 0,
}: Pick<SchedulerOptions, 'groupSize' | 'baselinesPerTask'>): number {
  return groupSize + baselinesPerTask;
}

interface OpenTask {
  readonly taskId: string;
  /** Seconds of the clock. */
  readonly startedAt: number;
  /** Trajectories that have not ended. */
  readonly open: number;
  readonly isCancelled: boolean;
}

interface InFlightState {
  readonly inner: unknown;
  /** Tasks that wait for room, in order; null for the next of the split. */
  readonly held: readonly (string | null)[];
  /** Tasks let through that have not begun. */
  readonly admitted: number;
  readonly tasks: readonly OpenTask[];
  readonly seconds: number;
}

type Transition = readonly [InFlightState, readonly ScheduleCommand[]];

/**
 * The scheduler with limits on what is in flight; the scheduler itself where there are none.
 *
 * A group of G trajectories, its baseline among them, is let through while
 *
 *   running + G ≤ maxTrajectories   and   (running + G) · tokensPerTrajectory ≤ maxTokens
 *
 * where running counts trajectories, so that a group whose last trajectory is slow keeps one place,
 * not G. Past its deadline a task is cancelled, and what has ended of it is scored: a slow tool
 * costs its own trajectory.
 *
 * @throws ConfigError for limits under which nothing could ever run
 */
export function limitInFlight(scheduler: Scheduler, options: SchedulerOptions): Scheduler {
  const { inFlight: limits } = options;
  if (limits === undefined) return scheduler;
  const perTask = rolloutsPerTask(options);
  const places = placesOf(limits, perTask);
  const { deadlineSeconds = Number.POSITIVE_INFINITY } = limits;

  const admit = (state: InFlightState): Transition => {
    const running = state.tasks.reduce((sum, { open }) => sum + open, 0);
    const room = Math.floor((places - running) / perTask) - state.admitted;
    const count = Math.min(Math.max(room, 0), state.held.length);
    if (count === 0) return [state, []];
    const { held, admitted } = state;
    const after = { ...state, held: held.slice(count), admitted: admitted + count };
    return [after, commandsFor(held.slice(0, count))];
  };

  return {
    name: scheduler.name,
    maxStaleness: scheduler.maxStaleness,
    init: (): InFlightState => ({
      inner: scheduler.init(),
      held: [],
      admitted: 0,
      tasks: [],
      seconds: 0,
    }),
    next(from, event) {
      const [followed, cuts] = follow(from as InFlightState, event, perTask, deadlineSeconds);
      const [inner, commands] = scheduler.next(followed.inner, event);
      const wanted = commands.flatMap((command): readonly (string | null)[] => {
        if (command.kind === 'rollOut') return new Array<null>(command.count).fill(null);
        return command.kind === 'rollOutAgain' ? command.taskIds : [];
      });
      const rest = commands.filter(({ kind }) => kind !== 'rollOut' && kind !== 'rollOutAgain');
      const [state, admitted] = admit({ ...followed, inner, held: [...followed.held, ...wanted] });
      return [state, [...cuts, ...rest, ...admitted]];
    },
  };
}

/** The books after an event, and what is to be cut. */
function follow(
  state: InFlightState,
  event: ScheduleEvent,
  perTask: number,
  deadlineSeconds: number,
): Transition {
  const { tasks, admitted, seconds } = state;
  switch (event.kind) {
    case 'taskStarted': {
      const task = {
        taskId: event.taskId,
        startedAt: seconds,
        open: perTask,
        isCancelled: false,
      };
      return [{ ...state, admitted: Math.max(0, admitted - 1), tasks: [...tasks, task] }, []];
    }
    case 'trajectoryEnded': {
      const after = tasks.map((task) =>
        task.taskId === event.taskId ? { ...task, open: Math.max(0, task.open - 1) } : task,
      );
      return [{ ...state, tasks: after }, []];
    }
    case 'clock': {
      const isLate = (task: OpenTask): boolean =>
        !task.isCancelled && event.seconds - task.startedAt >= deadlineSeconds;
      const cuts = tasks
        .filter(isLate)
        .map(({ taskId }) => ({ kind: 'cancel', taskId, reason: 'deadline' }) as const);
      const after = tasks.map((task) => (isLate(task) ? { ...task, isCancelled: true } : task));
      return [{ ...state, tasks: after, seconds: event.seconds }, cuts];
    }
    case 'runEnded':
      return [{ ...state, held: [] }, []];
    case 'groupScored':
    case 'groupFailed':
    case 'groupCancelled': {
      const taskId = event.kind === 'groupScored' ? event.group.taskId : event.taskId;
      return [{ ...state, tasks: tasks.filter((task) => task.taskId !== taskId) }, []];
    }
    default:
      return [state, []];
  }
}

/** Runs of equal kind become one command each. */
function commandsFor(tasks: readonly (string | null)[]): readonly ScheduleCommand[] {
  const next = tasks.filter((taskId) => taskId === null).length;
  const again = tasks.filter((taskId) => taskId !== null);
  return [
    ...(again.length > 0 ? [{ kind: 'rollOutAgain', taskIds: again } as const] : []),
    ...(next > 0 ? [{ kind: 'rollOut', count: next } as const] : []),
  ];
}

/** Trajectories that fit. */
function placesOf(limits: InFlightLimits, perTask: number): number {
  const { maxTrajectories = Number.POSITIVE_INFINITY, maxTokens, deadlineSeconds } = limits;
  const refuse = (field: keyof InFlightLimits, message: string): never => {
    throw new ConfigError(`scheduler.inFlight.${field}`, message);
  };
  if (!(maxTrajectories >= perTask)) {
    const fact = `maxTrajectories is ${maxTrajectories}, a group has ${perTask}`;
    refuse('maxTrajectories', `${fact}: none could start. Raise it to at least ${perTask}.`);
  }
  if (deadlineSeconds !== undefined && !(deadlineSeconds > 0)) {
    refuse('deadlineSeconds', `deadlineSeconds must be above 0, is ${deadlineSeconds}.`);
  }
  if (maxTokens === undefined) return maxTrajectories;
  const { tokensPerTrajectory = Number.NaN } = limits;
  if (!(tokensPerTrajectory >= 1)) {
    refuse(
      'tokensPerTrajectory',
      `tokensPerTrajectory must be at least 1 beside maxTokens, is ${tokensPerTrajectory}. ` +
        'Give the longest context of a trajectory.',
    );
  }
  const byTokens = Math.floor(maxTokens / tokensPerTrajectory);
  if (!(byTokens >= perTask)) {
    refuse(
      'maxTokens',
      `maxTokens is ${maxTokens}, a group may take ${perTask} · ${tokensPerTrajectory} = ` +
        `${perTask * tokensPerTrajectory}: none could start. Raise it to at least that.`,
    );
  }
  return Math.min(maxTrajectories, byTokens);
}
