/** Everything in a simulated cluster that works, and what slows it down: the parts and their speeds. */
import { Agenda } from './agenda.ts';
import { decodeSpeed } from './decode-table.ts';
import { Engine } from './engine.ts';
import { LearnerDevice } from './learner-device.ts';
import { type MachineCosts, speedsOf } from './machine.ts';
import { PacedClock } from './paced-clock.ts';
import { Pool } from './pool.ts';
import type { ClusterCosts, ClusterSize } from './simulation.ts';
import { TimeAverage } from './time-average.ts';

export class ClusterParts {
  readonly agenda = new Agenda();
  readonly engines: readonly Engine[];
  readonly learner: LearnerDevice;
  readonly tools: Pool;
  /** Servers that open sandboxes. */
  readonly openings: Pool;
  /** The process that drives the rollouts. */
  readonly main: Pool;
  readonly rewards: Pool;
  /** How much of what is going on makes engines stand still. */
  readonly publishing: TimeAverage;
  readonly #size: ClusterSize;
  readonly #machine: MachineCosts;
  readonly #sandboxClock: PacedClock;
  readonly #mainClock: PacedClock;
  #busyEngines = 0;
  #isDividing = false;
  #isDivideDue = false;

  constructor(costs: ClusterCosts, size: ClusterSize) {
    const { agenda } = this;
    const { engine, learner, tools, machine, reward } = costs;
    this.#size = size;
    this.#machine = {
      processors: machine.processors,
      engineProcessors: engine.processors,
      engineMainThread: engine.mainThread,
      learnerProcessors: learner.processors,
    };
    const parts = { ...engine, decodeSpeed: decodeSpeed(engine.decode) };
    this.engines = Array.from({ length: size.engines }, () => new Engine(agenda, parts));
    this.learner = new LearnerDevice(agenda);
    this.#sandboxClock = new PacedClock(agenda);
    this.#mainClock = new PacedClock(agenda);
    const openers = tools.openServers === 0 ? Number.POSITIVE_INFINITY : tools.openServers;
    this.tools = new Pool(agenda, size.sandboxes, this.#sandboxClock);
    this.openings = new Pool(agenda, openers, this.#sandboxClock);
    this.main = new Pool(agenda, 1, this.#mainClock);
    this.rewards = new Pool(agenda, reward.servers);
    this.publishing = new TimeAverage(() => agenda.seconds);
    for (const one of this.engines) {
      one.onBusy = (isBusy) => {
        this.#busyEngines += isBusy ? 1 : -1;
        this.divide();
      };
    }
    for (const pool of [this.tools, this.openings, this.main]) pool.onBusy = () => this.divide();
  }

  /** Divides device and processors by who has work; once more if that changed who has. */
  divide(): void {
    if (this.#isDividing) {
      this.#isDivideDue = true;
      return;
    }
    this.#isDividing = true;
    do {
      this.#isDivideDue = false;
      this.#setSpeeds();
    } while (this.#isDivideDue);
    this.#isDividing = false;
  }

  /** Engines stand still for so long. */
  pause(seconds: number, done: () => void): void {
    if (seconds <= 0) {
      done();
      return;
    }
    this.publishing.add(1);
    this.divide();
    this.agenda.after(seconds, () => {
      this.publishing.add(-1);
      this.divide();
      done();
    });
  }

  /** Forgets what was counted. */
  restart(): void {
    const { engines, tools, openings, main, rewards, learner, publishing } = this;
    for (const part of [...engines, tools, openings, main, rewards, learner, publishing]) {
      part.restart();
    }
  }

  #setSpeeds(): void {
    const busy = {
      engines: this.#busyEngines,
      isLearning: this.learner.isBusy,
      isPublishing: this.publishing.value > 0,
      isMainBusy: this.main.busy > 0,
      sandboxes: this.tools.busy + this.openings.busy,
    };
    const speeds = speedsOf(busy, this.#machine, this.#size.placement);
    for (const one of this.engines) one.setSpeed(speeds.engine);
    this.learner.setSpeed(speeds.learner);
    this.#mainClock.setSpeed(speeds.main);
    this.#sandboxClock.setSpeed(speeds.sandboxes);
  }
}
