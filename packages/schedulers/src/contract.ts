/**
 * What every scheduler must keep, as plain checks on simulated runs: each throws an Error that
 * says what broke.
 */
import type { AdvantagedTrajectory, SchedulerKind, SchedulerOptions } from './scheduler.ts';
import { type Simulation, simulate } from './simulate.ts';

export {
  type LogEntry,
  type Simulation,
  type SimulationOptions,
  simulate,
  simulatedTrajectory,
} from './simulate.ts';

export interface SchedulerCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(kind: SchedulerKind): void;
}

export const schedulerContract: readonly SchedulerCheck[] = [
  { name: 'trains on or drops every trajectory exactly once', check: checkBooks },
  { name: 'gives the same commands for the same events', check: checkDeterminism },
  { name: 'never changes a state it was given', check: checkPurity },
  { name: 'fixes advantages on the full group', check: checkAdvantages },
  { name: 'trains on nothing rather than fail when every group fails', check: checkExhaustion },
  { name: 'refuses options out of range', check: checkOptions },
];

const options: SchedulerOptions = {
  promptsPerStep: 4,
  groupSize: 5,
  advantages: ({ trajectories }) => {
    const rewards = Float64Array.from(trajectories, ({ reward }) => reward);
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(rewards.length, 1);
    return rewards.map((reward) => reward - mean);
  },
};

function runs(kind: SchedulerKind): readonly Simulation[] {
  return [1, 2, 3, 4, 5].map((seed) =>
    simulate(kind.create(options), { steps: 4, groupSize: options.groupSize, seed }),
  );
}

function trainedOn(run: Simulation): readonly AdvantagedTrajectory[] {
  return run.log
    .flatMap((entry) => entry.commands)
    .flatMap((command) => (command.kind === 'trainOn' ? command.trajectories : []));
}

function checkBooks(kind: SchedulerKind): void {
  for (const run of runs(kind)) {
    const fates = new Map<string, number>();
    const open = new Map<string, readonly string[]>();
    const settle = (id: string): void => {
      fates.set(id, (fates.get(id) ?? 0) + 1);
    };
    for (const { event, commands } of run.log) {
      if (event.kind === 'groupScored') {
        const ids = event.group.trajectories.map((trajectory) => trajectory.id);
        open.set(event.group.taskId, ids);
      }
      for (const command of commands) {
        if (command.kind === 'trainOn') {
          for (const { trajectory } of command.trajectories) settle(trajectory.id);
        } else if (command.kind === 'drop' && command.sampleIndex === undefined) {
          for (const id of open.get(command.taskId) ?? []) settle(id);
        } else if (command.kind === 'drop') {
          settle(`${command.taskId}/${command.sampleIndex}`);
        }
      }
    }
    for (const id of [...open.values()].flat()) {
      const times = fates.get(id) ?? 0;
      fates.delete(id);
      if (times !== 1)
        throw new Error(`${kind.name} decided ${times} times about ${id}, not once.`);
    }
    const [stranger] = fates.keys();
    if (stranger !== undefined) throw new Error(`${kind.name} decided about ${stranger}: unknown.`);
  }
}

function checkDeterminism(kind: SchedulerKind): void {
  const [first, second] = [JSON.stringify(runs(kind)), JSON.stringify(runs(kind))];
  if (first !== second) throw new Error(`${kind.name} answers the same events in two ways.`);
}

function checkPurity(kind: SchedulerKind): void {
  const scheduler = kind.create(options);
  for (const run of runs(kind)) {
    let state = scheduler.init();
    for (const { event } of run.log) {
      const before = JSON.stringify(state);
      const [after] = scheduler.next(state, event);
      if (JSON.stringify(state) !== before) throw new Error(`${kind.name} changed its old state.`);
      state = after;
    }
  }
}

function checkAdvantages(kind: SchedulerKind): void {
  for (const run of runs(kind)) {
    const expected = new Map<string, number>();
    for (const { event } of run.log) {
      if (event.kind !== 'groupScored') continue;
      const { trajectories } = event.group;
      const values = options.advantages(event.group);
      trajectories.forEach((one, index) => {
        expected.set(one.id, values[index] ?? Number.NaN);
      });
    }
    for (const { trajectory, advantage } of trainedOn(run)) {
      if (advantage !== expected.get(trajectory.id)) {
        throw new Error(`${kind.name} gave ${trajectory.id} the advantage ${advantage}.`);
      }
    }
  }
}

function checkExhaustion(kind: SchedulerKind): void {
  const settings = { steps: 2, groupSize: options.groupSize, seed: 9, failureRate: 1.1 };
  const run = simulate(kind.create(options), settings);
  if (trainedOn(run).length > 0) throw new Error(`${kind.name} trained on what had failed.`);
}

function checkOptions(kind: SchedulerKind): void {
  for (const wrong of [{ promptsPerStep: 0 }, { groupSize: 0 }, { promptsPerStep: 1.5 }]) {
    let isRefused = false;
    try {
      kind.create({ ...options, ...wrong });
    } catch {
      isRefused = true;
    }
    if (!isRefused) throw new Error(`${kind.name} accepts ${JSON.stringify(wrong)}.`);
  }
}
