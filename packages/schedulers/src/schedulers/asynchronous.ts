/** Rolls out while it trains, with a limit on the staleness of what it trains on. */

import { StateError } from '@saccade/core';
import { choice, count, flag, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { type AdvantagedGroup, withAdvantages } from '../advantaged-group.ts';
import { allOf, dropGroup, type EndEvent, isEnd, lostReason } from '../collect.ts';
import { defineScheduler } from '../define-scheduler.ts';
import { dropUniform } from '../filters/group-filters.ts';
import { limitInFlight, rolloutsPerTask } from '../in-flight.ts';
import type { DropReason, ScheduleCommand, Scheduler, SchedulerOptions } from '../scheduler.ts';
import { inFlightSettings, maxRounds, promptsPerStep } from '../scheduler-settings.ts';
import { isTooStale, leavesTime, versionOf } from '../staleness.ts';

const settings = z.strictObject({
  promptsPerStep,
  maxStaleness: count({
    min: 0,
    max: 1000,
    default: 1,
    unit: 'optimizer steps',
    about: 'η: most optimizer steps between sampling and training; 0 is synchronous.',
  }),
  tooStale: choice(['drop', 'wait'], {
    default: 'drop',
    about: 'A group about to be too stale is dropped, or the batch waits for it.',
  }),
  onUpdate: choice(['continue', 'restart'], {
    default: 'continue',
    about: 'Rollouts that new weights interrupt continue, or restart from their prompt.',
  }),
  maxRestarts: count({
    min: 0,
    max: 1000,
    default: 1,
    unit: 'times',
    about: 'Times a task restarts for new weights; after that it continues.',
  }),
  dropsUniform: flag({
    default: false,
    about: 'Whether groups of equal rewards are dropped, and replaced.',
  }),
  maxRounds,
  inFlight: inFlightSettings.optional(),
});

/** Options of `asynchronous`: the driver's, and its own settings. */
export type AsynchronousOptions = SchedulerOptions & SettingsOf<typeof settings>;

interface Running {
  readonly taskId: string;
  /** Version of the oldest tokens it can have. */
  readonly version: number;
  readonly ended: number;
  readonly restarts: number;
  readonly isCancelled: boolean;
}

interface Ready extends AdvantagedGroup {
  readonly version: number;
}

interface State {
  /** Version of the published weights, which is the trainer's between its steps. */
  readonly version: number;
  /** A step has begun and has no batch. */
  readonly isAsked: boolean;
  /** Groups in the batch that is being trained on. */
  readonly training: number;
  /** Groups asked for that have not begun. */
  readonly requested: number;
  readonly running: readonly Running[];
  readonly ready: readonly Ready[];
  /** Groups lost since the last batch. */
  readonly lost: number;
  readonly isEnded: boolean;
}

type Answer = readonly [State, readonly ScheduleCommand[]];

/**
 * Asynchronous training with bounded staleness.
 *
 *   groups asked for = (η + 1)·B − (asked for + running + ready + in training)
 *
 * keeps the queue bounded; a batch is the B oldest groups that are ready. It holds that
 *
 *   trainer version − version of the oldest token ≤ η       for everything trained on
 *
 * AReaL, arXiv:2505.24298: admission by staleness (§5.1), and rollouts that new weights interrupt
 * (§4). AReaL counts what was admitted and lets a late rollout grow staler; here it is dropped or
 * waited for.
 */
export const asynchronous = defineScheduler({
  name: 'asynchronous',
  paper: 'arXiv:2505.24298, §4–5',
  description: 'Rolls out while it trains; nothing it trains on is staler than a bound.',
  isStreaming: true,
  settings,
  variants: [
    {},
    { maxStaleness: 0 },
    { maxStaleness: 2, tooStale: 'wait' },
    { maxStaleness: 1, tooStale: 'wait', onUpdate: 'restart' },
    { maxStaleness: 3, onUpdate: 'restart', maxRestarts: 2, dropsUniform: true, maxRounds: 2 },
  ],
  create(options: AsynchronousOptions): Scheduler {
    const { maxStaleness } = options;
    const rules = new Rules(options);
    const scheduler: Scheduler<State> = {
      name: 'asynchronous',
      maxStaleness,
      init: () => ({
        version: 0,
        isAsked: false,
        training: 0,
        requested: 0,
        running: [],
        ready: [],
        lost: 0,
        isEnded: false,
      }),
      next(state, event) {
        switch (event.kind) {
          case 'stepStarted':
            return rules.proceed(begin(state, event.step), []);
          case 'weightsPublished':
            return rules.publish(state, event.version);
          case 'taskStarted':
            return [start(state, event.taskId), []];
          case 'trajectoryEnded':
            return [change(state, event.taskId, (one) => ({ ...one, ended: one.ended + 1 })), []];
          case 'runEnded':
            return [
              { ...state, isEnded: true, isAsked: false, requested: 0, ready: [] },
              state.ready.map(({ taskId }) => dropGroup(taskId, 'runEnded')),
            ];
          default:
            return isEnd(event) ? rules.end(state, event) : [state, []];
        }
      },
    };
    return limitInFlight(scheduler as Scheduler, options);
  },
});

function begin(state: State, step: number): State {
  if (state.isEnded) {
    throw new StateError(`Step ${step} cannot start: the run has ended. Begin a new one.`);
  }
  if (state.isAsked) {
    throw new StateError(
      `Step ${step} cannot start: the one before has no batch. Wait for trainOn.`,
    );
  }
  return { ...state, isAsked: true, training: 0 };
}

function start(state: State, taskId: string): State {
  const { version, requested, running } = state;
  const task = { taskId, version, ended: 0, restarts: 0, isCancelled: false };
  return { ...state, requested: Math.max(0, requested - 1), running: [...running, task] };
}

function change(state: State, taskId: string, to: (task: Running) => Running): State {
  const running = state.running.map((task) => (task.taskId === taskId ? to(task) : task));
  return { ...state, running };
}

type Settled = Required<
  Omit<AsynchronousOptions, 'inFlight' | 'dropsUniform' | 'baselinesPerTask'>
> &
  AsynchronousOptions;

/** The decisions that the options call for. */
class Rules {
  readonly #options: Settled;

  constructor(options: Settled) {
    this.#options = options;
  }

  /** New weights: interrupted rollouts continue, restart or are given up. */
  publish(from: State, version: number): Answer {
    if (version < from.version) {
      throw new StateError(
        `Version ${version} cannot follow version ${from.version}. Count optimizer steps.`,
      );
    }
    const { onUpdate, maxRestarts, maxStaleness } = this.#options;
    const perTask = rolloutsPerTask(this.#options);
    const commands: ScheduleCommand[] = [];
    const running = from.running.map((task): Running => {
      if (task.isCancelled || from.isEnded) return task;
      const begins = onUpdate === 'restart' && task.restarts < maxRestarts && task.ended < perTask;
      // The ended trajectories of a task stay as old as they are.
      const renewed = begins && task.ended === 0 ? version : task.version;
      if (isTooStale(renewed, version, maxStaleness)) {
        commands.push({ kind: 'cancel', taskId: task.taskId, reason: 'tooStale' });
        return { ...task, isCancelled: true };
      }
      if (!begins) return task;
      commands.push({ kind: 'restart', taskId: task.taskId });
      return { ...task, restarts: task.restarts + 1, version: renewed };
    });
    const isOld = (group: Ready) => isTooStale(group.version, version, maxStaleness);
    const old = from.ready.filter(isOld);
    for (const { taskId } of old) commands.push(dropGroup(taskId, 'tooStale'));
    const ready = from.ready.filter((group) => !isOld(group));
    const lost = from.lost + old.length;
    return this.proceed({ ...from, version, training: 0, running, ready, lost }, commands);
  }

  /** A task has ended: its group is ready, or lost for a reason. */
  end(from: State, event: EndEvent): Answer {
    const taskId = event.kind === 'groupScored' ? event.group.taskId : event.taskId;
    const running = from.running.filter((task) => task.taskId !== taskId);
    if (running.length === from.running.length) {
      throw new StateError(`Task ${taskId} ended but is not in flight. Send taskStarted first.`);
    }
    const state = { ...from, running };
    if (event.kind !== 'groupScored' || lostReason(event) !== undefined) {
      return this.#lose(state, taskId, lostReason(event) ?? 'groupFailed');
    }
    if (from.isEnded) return this.#lose(state, taskId, 'runEnded');
    const group = withAdvantages(event.group, this.#options.advantages);
    const version = versionOf(group);
    if (isTooStale(version, from.version, this.#options.maxStaleness)) {
      return this.#lose(state, taskId, 'tooStale');
    }
    const reason = this.#options.dropsUniform ? dropUniform(group) : undefined;
    if (reason !== undefined) return this.#lose(state, taskId, reason);
    return this.proceed({ ...state, ready: [...state.ready, { ...group, version }] }, []);
  }

  /** Gives the trainer its batch if there is one, and asks for what there is room for. */
  proceed(from: State, before: readonly ScheduleCommand[]): Answer {
    const { promptsPerStep, maxStaleness, maxRounds } = this.#options;
    const [state, batch] = this.#serve(from);
    // After its last round a step only waits for what runs, or it could continue forever.
    const isOver = state.isAsked && state.lost >= maxRounds * promptsPerStep;
    if (state.isEnded || isOver) return [state, [...before, ...batch]];
    const { requested, running, ready, training } = state;
    const untrained = requested + running.length + ready.length + training;
    const count = (maxStaleness + 1) * promptsPerStep - untrained;
    if (count <= 0) return [state, [...before, ...batch]];
    return [
      { ...state, requested: requested + count },
      [...before, ...batch, { kind: 'rollOut', count }],
    ];
  }

  #lose(from: State, taskId: string, reason: DropReason): Answer {
    return this.proceed({ ...from, lost: from.lost + 1 }, [dropGroup(taskId, reason)]);
  }

  #serve(state: State): Answer {
    const { promptsPerStep: wanted, maxRounds, tooStale } = this.#options;
    if (!state.isAsked || state.isEnded) return [state, []];
    const isExhausted = state.ready.length < wanted && state.lost >= maxRounds * wanted;
    if (state.ready.length < wanted && !isExhausted) return [state, []];
    // Array.sort is stable: of equally old ones the first to end go first.
    const oldest = [...state.ready].sort((a, b) => a.version - b.version);
    const [batch, ready] = [oldest.slice(0, wanted), oldest.slice(wanted)];
    const left = [...ready, ...state.running].map(({ version }) => version);
    if (tooStale === 'wait' && !leavesTime(left, state.version, this.#options)) return [state, []];
    const filled = batch.length;
    const exhausted = { kind: 'exhausted', rounds: maxRounds, filled, wanted } as const;
    const after = { ...state, ready, isAsked: false, training: filled, lost: 0 };
    return [
      after,
      [...(isExhausted ? [exhausted] : []), { kind: 'trainOn', trajectories: allOf(batch) }],
    ];
  }
}
