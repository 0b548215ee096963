/** Drives a scheduler through a made-up run on a fake clock, and keeps the books. */
import { type Random, randomAt } from '@saccade/core';
import { type ScoredTrajectory, TrajectoryBuilder } from '@saccade/trajectory';
import type { ScheduleCommand, ScheduleEvent, Scheduler } from './scheduler.ts';

export interface SimulationOptions {
  readonly steps: number;
  readonly groupSize: number;
  readonly seed: number;
  /** Share of groups that fail altogether. Default 0.1. */
  readonly failureRate?: number;
  /** Share of single trajectories that are lost. Default 0.1. */
  readonly lossRate?: number;
}

/** One event and the commands that answered it. */
export interface LogEntry {
  /** Seconds of the fake clock. */
  readonly time: number;
  readonly event: ScheduleEvent;
  readonly commands: readonly ScheduleCommand[];
}

export interface Simulation {
  readonly log: readonly LogEntry[];
  /** Tasks the scheduler asked for, in order. */
  readonly taskIds: readonly string[];
}

/**
 * Runs a scheduler for some steps. Groups take random times and are reported in the order they
 * end, so a scheduler that only works for one order is found out.
 *
 * @throws Error if a step never gets its batch, or gets a second one
 */
export function simulate(scheduler: Scheduler, options: SimulationOptions): Simulation {
  const random = randomAt(options.seed, 'simulate');
  const log: LogEntry[] = [];
  const taskIds: string[] = [];
  let state = scheduler.init();
  let time = 0;
  for (let step = 0; step < options.steps; step++) {
    const queue: { time: number; event: ScheduleEvent }[] = [
      { time, event: { kind: 'stepStarted', step } },
    ];
    let batches = 0;
    while (queue.length > 0) {
      queue.sort((a, b) => a.time - b.time);
      const next = queue.shift();
      if (next === undefined) break;
      time = next.time;
      const [after, commands] = scheduler.next(state, next.event);
      state = after;
      log.push({ time, event: next.event, commands });
      for (const command of commands) {
        if (command.kind === 'trainOn') batches++;
        if (command.kind !== 'rollOut') continue;
        for (let i = 0; i < command.count; i++) {
          const taskId = `task-${taskIds.length}`;
          taskIds.push(taskId);
          const seconds = -Math.log(random.uniform());
          queue.push({ time: time + seconds, event: groupEvent(taskId, random, options) });
        }
      }
    }
    if (batches !== 1) throw new Error(`${scheduler.name}: step ${step} got ${batches} batches.`);
  }
  return { log, taskIds };
}

function groupEvent(taskId: string, random: Random, options: SimulationOptions): ScheduleEvent {
  if (random.uniform() < (options.failureRate ?? 0.1)) return { kind: 'groupFailed', taskId };
  const rate = random.uniform();
  const trajectories: ScoredTrajectory[] = [];
  for (let sampleIndex = 0; sampleIndex < options.groupSize; sampleIndex++) {
    const isBroken = random.uniform() < 0.2;
    const isCorrect = !isBroken && random.uniform() < rate;
    const reward = isCorrect ? 1 + 0.1 * random.integer(5) : 0;
    if (random.uniform() < (options.lossRate ?? 0.1)) continue;
    trajectories.push(simulatedTrajectory(taskId, sampleIndex, { reward, isCorrect, isBroken }));
  }
  return { kind: 'groupScored', group: { taskId, trajectories } };
}

/** A scored trajectory of one turn, for simulations and tests. */
export function simulatedTrajectory(
  taskId: string,
  sampleIndex: number,
  end: { reward: number; isCorrect?: boolean; isBroken?: boolean },
): ScoredTrajectory {
  const made = new TrajectoryBuilder({ id: `${taskId}/${sampleIndex}`, taskId, sampleIndex });
  made.prompt({ tokens: Int32Array.of(1), images: [], text: 'question' });
  const logprobs = Float32Array.of(-1);
  made.model({ tokens: Int32Array.of(2), logprobs, text: 'turn', policyVersion: 0 });
  made.turn(end.isBroken ? { kind: 'code', code: 'x' } : { kind: 'answer', answer: '7' });
  const trajectory = made.finish(end.isBroken ? 'toolError' : 'answered');
  const { reward, isCorrect = reward > 0 } = end;
  return { ...trajectory, reward, rewardTerms: { reward }, isCorrect };
}
