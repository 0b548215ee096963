/** A whole run on a simulated cluster, under a real scheduler: deterministic by its seed. */
import { StateError } from '@saccade/core';
import type { AdvantagedTrajectory, ScheduleCommand, ScheduleEvent } from '@saccade/schedulers';
import { countDrops, type Scheduler, type SchedulerOptions } from '@saccade/schedulers';
import { checkSimulation } from './check-simulation.ts';
import { ClusterParts } from './cluster-parts.ts';
import { Flight, type FlightListener, type FlightTask } from './flight.ts';
import { learnSeconds } from './learner-cost.ts';
import { meanReport } from './mean-report.ts';
import { packedTokens } from './packed-tokens.ts';
import { Pool } from './pool.ts';
import type { ClusterReport, ClusterSimulation } from './simulation.ts';

/** A simulation that has not ended after so many events never will. */
const MOST_EVENTS = 200_000_000;

/**
 * Simulates a run of `warmSteps + steps` steps and reports the last `steps` of them.
 *
 * The scheduler is the one that trains: it gets the same events in the same order as from the loop,
 * and its commands are carried out. Kinds that do not stream roll out, then score, then learn, then
 * publish; those that stream do all at once.
 *
 * @throws ConfigError for numbers under which nothing could run
 * @throws StateError if the scheduler asks for nothing more and has no batch
 */
export function simulateCluster(options: ClusterSimulation): ClusterReport {
  checkSimulation(options);
  return new Cluster(options).run();
}

interface Round {
  readonly taskIds: string[];
  readonly ended: Map<string, FlightTask>;
}

class Cluster implements FlightListener {
  readonly #options: ClusterSimulation;
  readonly #parts: ClusterParts;
  readonly #flight: Flight;
  readonly #scheduler: Scheduler;
  readonly #isStreaming: boolean;
  readonly #inbox: ScheduleEvent[] = [];
  #state: unknown;
  #tasksTaken = 0;
  #steps = 0;
  #version = 0;
  #isPublishDue = false;
  #batch: readonly AdvantagedTrajectory[] | undefined;
  #isWaiting = false;
  #isPumping = false;
  /** Of a round of a scheduler that does not stream: tasks in order, and those that ended. */
  #round: Round | undefined;
  #ended: ClusterReport | undefined;
  // Of the window that counts.
  #since = 0;
  #commands: ScheduleCommand[] = [];
  #staleness: number[] = [];
  #learnedTokens = 0;
  #trained = 0;
  #emptySteps = 0;
  #sampledBefore = 0;
  #rolledOutBefore = 0;

  constructor(options: ClusterSimulation) {
    this.#options = options;
    const { costs, size, training } = options;
    this.#parts = new ClusterParts(costs, size);
    const { agenda, engines, tools, openings, main } = this.#parts;
    this.#flight = new Flight(
      {
        ...{ agenda, engines, tools, openings, main },
        places: new Pool(agenda, training.concurrency),
        groups: options.groups.filter(({ trajectories }) => trajectories.length > 0),
        groupSize: training.groupSize,
        promptSharing: training.sharedPrefix ? costs.engine.promptSharing : 0,
        requestSeconds: costs.engine.requestSeconds,
        openSeconds: costs.tools.openSeconds,
        workShare: costs.tools.workShare,
        mainSeconds: costs.main.secondsPerTurn + costs.main.secondsPerRequest,
        seed: options.seed,
      },
      this,
    );
    this.#isStreaming = training.scheduler.isStreaming ?? false;
    this.#scheduler = training.scheduler.create({
      ...training.settings,
      groupSize: training.groupSize,
      advantages: ({ trajectories }) => {
        const mean = trajectories.reduce((sum, one) => sum + one.reward, 0) / trajectories.length;
        return Float64Array.from(trajectories, ({ reward }) => reward - mean);
      },
    } as SchedulerOptions);
    this.#state = this.#scheduler.init();
  }

  run(): ClusterReport {
    const { inFlight } = this.#options.training.settings as Pick<SchedulerOptions, 'inFlight'>;
    if (inFlight?.deadlineSeconds !== undefined) this.#tick(inFlight.deadlineSeconds);
    this.#beginStep();
    for (let events = 0; this.#ended === undefined; events++) {
      if (!this.#parts.agenda.step() || events > MOST_EVENTS) {
        throw new StateError(
          `${this.#scheduler.name} waits forever in step ${this.#steps}: nothing is in flight and ` +
            'there is no batch. Check the limits on what may be in flight.',
        );
      }
    }
    return this.#ended;
  }

  trajectoryEnded(taskId: string): void {
    if (this.#isStreaming) this.#post({ kind: 'trajectoryEnded', taskId });
  }

  taskEnded(task: FlightTask): void {
    if (this.#isStreaming) {
      this.#score(task, () => this.#report(task));
      return;
    }
    const round = this.#round;
    if (round === undefined) return;
    round.ended.set(task.taskId, task);
    if (round.ended.size === round.taskIds.length) this.#scoreRound(round);
  }

  #post(event: ScheduleEvent): void {
    this.#inbox.push(event);
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let next = this.#inbox.shift(); next !== undefined; next = this.#inbox.shift()) {
      const [state, commands] = this.#scheduler.next(this.#state, next);
      this.#state = state;
      this.#commands.push(...commands);
      for (const command of commands) this.#obey(command);
    }
    this.#isPumping = false;
  }

  /** Tells the time ten times within a deadline, as the loop does. */
  #tick(deadlineSeconds: number): void {
    this.#parts.agenda.after(deadlineSeconds / 10, () => {
      this.#post({ kind: 'clock', seconds: this.#parts.agenda.seconds });
      this.#tick(deadlineSeconds);
    });
  }

  #obey(command: ScheduleCommand): void {
    switch (command.kind) {
      case 'rollOut':
        this.#begin(Array.from({ length: command.count }, () => `task-${this.#tasksTaken++}`));
        break;
      case 'rollOutAgain':
        this.#begin(command.taskIds);
        break;
      case 'cancel':
        this.#flight.cancel(command.taskId, command.reason);
        break;
      case 'restart':
        this.#flight.restart(command.taskId);
        break;
      case 'trainOn':
        this.#batch = command.trajectories;
        // After all other commands of this moment.
        this.#parts.agenda.after(0, () => this.#learn());
        break;
      default:
        break;
    }
  }

  #begin(taskIds: readonly string[]): void {
    if (this.#isStreaming) {
      // As in the loop, tasks begin once the commands of the moment are carried out.
      this.#parts.agenda.after(0, () => {
        if (this.#ended === undefined) {
          this.#flight.begin(taskIds, (taskId) => this.#post({ kind: 'taskStarted', taskId }));
        }
      });
      return;
    }
    this.#round ??= { taskIds: [], ended: new Map() };
    this.#round.taskIds.push(...taskIds);
    this.#publish(() => this.#flight.begin(taskIds, () => {}));
  }

  #score(task: FlightTask, done: () => void): void {
    const trajectories = this.#flight.trajectoriesOf(task).length;
    const { secondsPerTrajectory } = this.#options.costs.reward;
    if (secondsPerTrajectory === 0 || trajectories === 0) {
      this.#parts.agenda.after(0, done);
      return;
    }
    this.#parts.rewards.serve(secondsPerTrajectory * trajectories, done);
  }

  #report(task: FlightTask): void {
    const { taskId, reason } = task;
    const trajectories = this.#flight.trajectoriesOf(task);
    if (trajectories.length > 0) {
      this.#post({ kind: 'groupScored', group: { taskId, trajectories } });
    } else {
      this.#post({ kind: 'groupCancelled', taskId, reason: reason ?? 'cancelled' });
    }
  }

  #scoreRound({ taskIds, ended }: Round): void {
    this.#round = undefined;
    const tasks = taskIds.flatMap((taskId) => ended.get(taskId) ?? []);
    let left = tasks.length;
    for (const task of tasks) {
      this.#score(task, () => {
        left--;
        if (left === 0) for (const one of tasks) this.#report(one);
      });
    }
  }

  #beginStep(): void {
    if (this.#isPublishDue && this.#isStreaming) {
      this.#isPublishDue = false;
      this.#post({ kind: 'weightsPublished', version: this.#version });
    }
    this.#isWaiting = true;
    this.#post({ kind: 'stepStarted', step: this.#steps });
  }

  #learn(): void {
    const batch = this.#batch;
    if (batch === undefined || !this.#isWaiting) return;
    this.#batch = undefined;
    this.#isWaiting = false;
    const { costs, size, training } = this.#options;
    for (const { trajectory } of batch) {
      const stale = this.#version - trajectory.policyVersion;
      this.#staleness[stale] = (this.#staleness[stale] ?? 0) + 1;
    }
    const tokens = packedTokens(batch, training.sharedPrefix);
    this.#trained += batch.length;
    this.#learnedTokens += tokens;
    if (batch.length === 0) this.#emptySteps++;
    const { scoreSecondsPerToken: score, rescoreSecondsPerToken: again } = costs.learner;
    const own = { ...costs.learner, scoreSecondsPerToken: score + (this.#isStreaming ? 0 : again) };
    this.#parts.learner.begin(learnSeconds(own, tokens, size.learnerGpus).total, () => {
      this.#parts.divide();
      this.#finishStep(batch.length > 0);
    });
    this.#parts.divide();
  }

  #finishStep(isTrained: boolean): void {
    if (isTrained) {
      this.#version++;
      this.#isPublishDue = true;
    }
    this.#steps++;
    const after = (): void => this.#parts.pause(this.#dueSeconds(), () => this.#next());
    if (this.#isStreaming) this.#publish(after);
    else after();
  }

  #next(): void {
    const { warmSteps, steps } = this.#options;
    if (this.#steps === warmSteps) this.#restart();
    if (this.#steps === warmSteps + steps) this.#ended = this.#makeReport();
    else this.#beginStep();
  }

  /** Of what is due after this step. */
  #dueSeconds(): number {
    const { evaluation, checkpoint } = this.#options.costs;
    const due = ({ seconds, everySteps }: typeof evaluation): number =>
      everySteps > 0 && this.#steps % everySteps === 0 ? seconds : 0;
    return due(evaluation) + due(checkpoint);
  }

  /** Gives engines the new weights, if there are any. */
  #publish(done: () => void): void {
    if (this.#flight.version === this.#version) {
      done();
      return;
    }
    const { engines } = this.#parts;
    if (!this.#options.costs.publish.drains) {
      this.#load(done);
      return;
    }
    let running = engines.length;
    const drained = (): void => {
      running--;
      if (running > 0) return;
      this.#load(() => {
        for (const engine of engines) engine.resume();
        done();
      });
    };
    for (const engine of engines) engine.drain(drained);
  }

  /** Engines load the new weights while they stand still. */
  #load(done: () => void): void {
    const { engines } = this.#parts;
    const { publish } = this.#options.costs;
    const seconds = publish.seconds + publish.secondsPerEngine * (engines.length - 1);
    this.#flight.version = this.#version;
    for (const [engine, tokens] of this.#flight.contextTokens()) {
      engine.recompute(publish.recomputes * tokens);
    }
    this.#parts.pause(seconds, done);
  }

  /** Forgets what happened while queues were filling. */
  #restart(): void {
    this.#since = this.#parts.agenda.seconds;
    this.#parts.restart();
    this.#commands = [];
    this.#staleness = [];
    this.#learnedTokens = 0;
    this.#trained = 0;
    this.#emptySteps = 0;
    this.#sampledBefore = this.#flight.sampledTokens;
    this.#rolledOutBefore = this.#flight.endedTrajectories;
  }

  #makeReport(): ClusterReport {
    const { size, costs, steps } = this.#options;
    const seconds = this.#parts.agenda.seconds - this.#since;
    const perSecond = (amount: number): number => (seconds > 0 ? amount / seconds : 0);
    const rolledOut = this.#flight.endedTrajectories - this.#rolledOutBefore;
    const staleness = Array.from(this.#staleness, (count = 0) => count);
    const all = staleness.reduce((sum, count) => sum + count, 0);
    const drops = Object.entries(countDrops(this.#commands)).map(
      ([reason, { groups }]) => [reason, groups] as const,
    );
    return {
      seconds,
      steps,
      emptySteps: this.#emptySteps,
      stepsPerHour: 3600 * perSecond(steps),
      sampledTokensPerSecond: perSecond(this.#flight.sampledTokens - this.#sampledBefore),
      learnedTokensPerSecond: perSecond(this.#learnedTokens),
      trajectoriesPerHour: 3600 * perSecond(rolledOut),
      trainedShare: rolledOut > 0 ? this.#trained / rolledOut : 0,
      engines: {
        ...meanReport(this.#parts.engines.map((engine) => engine.report(seconds))),
        count: size.engines,
        gpus: size.engines * costs.engine.gpus,
      },
      tools: this.#parts.tools.report,
      main: this.#parts.main.report,
      reward: this.#parts.rewards.report,
      learner: {
        gpus: size.learnerGpus,
        utilization: this.#parts.learner.utilization,
        idleSeconds: seconds * (1 - this.#parts.learner.utilization),
      },
      publishing: this.#parts.publishing.mean,
      staleness,
      meanStaleness: staleness.reduce((sum, count, k) => sum + k * count, 0) / Math.max(1, all),
      drops: Object.fromEntries(drops),
    };
  }
}
