/**
 * The contract of schedulers, as plain checks on simulated runs. Each throws an Error that says
 * what is broken.
 */
import { auditRun, trainedOn } from './audit.ts';
import { drawScenario, type Scenario } from './scenarios.ts';
import type { Scheduler, SchedulerKind } from './scheduler.ts';
import { type Simulation, simulate } from './simulate.ts';
import { formatState, parseState } from './state-json.ts';

export { drawScenario, type Scenario } from './scenarios.ts';
export { type LogEntry, type Simulation, simulate } from './simulate.ts';
export { type SimulationOptions, simulatedTrajectory } from './simulated-task.ts';
export { compareThroughput, type Throughput, type ThroughputOptions } from './throughput.ts';

/** One check of `schedulerContract`, for any test runner. */
export interface SchedulerCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(kind: SchedulerKind, options?: CheckOptions): void;
}

/** How thoroughly to check. */
export interface CheckOptions {
  /** Random schedules that the books are kept for. Default 10,000. */
  readonly schedules?: number;
}

/** Random schedules that are run again, resumed and watched. */
const REPEATED = 200;

/**
 * The checks that every scheduler must pass, on simulated runs with slow tools, failures,
 * cancellations and crashes.
 */
export const schedulerContract: readonly SchedulerCheck[] = [
  {
    name: 'keeps its books and its bounds in random schedules with faults and crashes',
    check: checkBooks,
  },
  { name: 'continues from JSON at any point as if nothing had happened', check: checkResume },
  { name: 'never changes a state it was given', check: checkPurity },
  { name: 'trains on nothing rather than fail when every group fails', check: checkExhaustion },
  { name: 'drops what it holds when the run ends in the middle of a step', check: checkEarlyEnd },
  { name: 'refuses options out of range', check: checkOptions },
];

function schedulerOf(kind: SchedulerKind, { options }: Scenario): Scheduler {
  return kind.create(options);
}

function run(kind: SchedulerKind, scenario: Scenario): Simulation {
  return simulate(schedulerOf(kind, scenario), scenario.simulation);
}

function checkBooks(kind: SchedulerKind, { schedules = 10_000 }: CheckOptions = {}): void {
  for (let seed = 0; seed < schedules; seed++) {
    const scenario = drawScenario(kind, seed);
    try {
      auditRun(schedulerOf(kind, scenario), run(kind, scenario), scenario);
    } catch (error) {
      const { options, simulation } = scenario;
      const details = JSON.stringify({ options, simulation });
      throw new Error(`${kind.name}, schedule ${seed}: ${String(error)} ${details}`);
    }
  }
}

/** Every state goes through JSON, which must not be seen in the commands; they are what they were. */
function checkResume(kind: SchedulerKind): void {
  for (let seed = 0; seed < REPEATED; seed++) {
    const scenario = drawScenario(kind, seed);
    const scheduler = schedulerOf(kind, scenario);
    const { log } = run(kind, scenario);
    let state = scheduler.init();
    log.forEach(({ event, commands }, index) => {
      const { json, trajectories } = formatState(state);
      const byId = new Map(trajectories.map((one) => [one.id, one]));
      const resumed = parseState(json, (id) => byId.get(id));
      const [after, answer] = scheduler.next(resumed, event);
      if (JSON.stringify(answer) !== JSON.stringify(commands)) {
        throw new Error(`${kind.name} answers event ${index} in another way once it is resumed.`);
      }
      state = after;
    });
  }
}

function checkPurity(kind: SchedulerKind): void {
  for (let seed = 0; seed < REPEATED; seed++) {
    const scenario = drawScenario(kind, seed);
    const scheduler = schedulerOf(kind, scenario);
    let state = scheduler.init();
    for (const { event } of run(kind, scenario).log) {
      const before = formatState(state).json;
      const [after] = scheduler.next(state, event);
      if (formatState(state).json !== before) {
        throw new Error(`${kind.name} changed its old state.`);
      }
      state = after;
    }
  }
}

function checkExhaustion(kind: SchedulerKind): void {
  for (let seed = 0; seed < 20; seed++) {
    const scenario = drawScenario(kind, seed);
    const simulation = { ...scenario.simulation, failureRate: 1.1 };
    const failed = run(kind, { ...scenario, simulation });
    if (trainedOn(failed).length > 0) throw new Error(`${kind.name} trained on what had failed.`);
  }
}

function checkEarlyEnd(kind: SchedulerKind): void {
  for (let seed = 0; seed < REPEATED; seed++) {
    const scenario = drawScenario(kind, seed);
    const whole = run(kind, scenario);
    const endSeconds = (whole.seconds * ((seed % 10) + 1)) / 12;
    const simulation = { ...scenario.simulation, endSeconds };
    const early = run(kind, { ...scenario, simulation });
    auditRun(schedulerOf(kind, scenario), early, { ...scenario, simulation });
  }
}

function checkOptions(kind: SchedulerKind): void {
  const { options } = drawScenario(kind, 0);
  for (const wrong of [
    { promptsPerStep: 0 },
    { groupSize: 0 },
    { promptsPerStep: 1.5 },
    { inFlight: { maxTrajectories: options.groupSize - 1 } },
    { inFlight: { maxTokens: 10 } },
    { inFlight: { deadlineSeconds: 0 } },
  ]) {
    let isRefused = false;
    try {
      kind.create({ ...options, ...wrong });
    } catch {
      isRefused = true;
    }
    if (!isRefused) throw new Error(`${kind.name} accepts ${JSON.stringify(wrong)}.`);
  }
}
