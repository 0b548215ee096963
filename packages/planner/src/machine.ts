/** How fast everything of a run goes, by what else is busy: one device, or processors, that they share. */
import type { Placement } from './device-shares.ts';
import { sharesOf } from './device-shares.ts';

/** Processors that a run shares with its sandboxes, and how many each part keeps busy. */
export interface MachineCosts {
  /**
   * Of the machine on which everything runs, if it is one; 0: every part has processors of its own, as
   * where engines and learner have devices of their own.
   */
  readonly processors: number;
  readonly engineProcessors: number;
  readonly learnerProcessors: number;
  /** Share of its main thread that an engine of the run's own process keeps busy. */
  readonly engineMainThread: number;
}

/** What is busy at a moment. */
export interface Busy {
  readonly engines: number;
  readonly isLearning: boolean;
  readonly isPublishing: boolean;
  /** Whether the main process works between two turns. */
  readonly isMainBusy: boolean;
  /** Sandboxes that open or run code. */
  readonly sandboxes: number;
}

/** Speeds relative to working alone, 0 to 1. */
export interface Speeds {
  readonly engine: number;
  readonly learner: number;
  readonly main: number;
  readonly sandboxes: number;
}

/**
 * Speeds of all parts at a moment. On processors of their own, engine and learner divide a device by
 * their placement. On C processors that all share, a system gives each thread the same:
 *
 *   speed = min(1, C / Σ processors that the busy parts keep busy)
 *
 * In one process, JavaScript is a processor of which there is one: the share m of it that passes of the
 * engine take, and work between turns, have a speed of at most 1 / (1 + m).
 */
export function speedsOf(busy: Busy, costs: MachineCosts, placement: Placement): Speeds {
  const { processors } = costs;
  const isShared = processors > 0 && placement !== 'separate';
  const divides = isShared && placement === 'shared' ? 'separate' : placement;
  const { engines, isLearning, isPublishing, isMainBusy, sandboxes } = busy;
  const share = sharesOf(divides);
  const engine = isPublishing ? 0 : isLearning ? share.engine : 1;
  const learner = engines > 0 && engine > 0 ? share.learner : 1;
  if (!isShared) return { engine, learner, main: 1, sandboxes: 1 };
  const demand =
    (engine > 0 ? engines * costs.engineProcessors : 0) +
    (isLearning ? costs.learnerProcessors : 0) +
    (isMainBusy ? 1 : 0) +
    sandboxes;
  const speed = demand > processors ? processors / demand : 1;
  const isOneThread = placement === 'alternating' && isMainBusy && engines > 0 && engine > 0;
  const thread = isOneThread ? Math.min(speed, 1 / (1 + costs.engineMainThread)) : speed;
  return {
    engine: engine * thread,
    learner: learner * speed,
    main: thread,
    sandboxes: speed,
  };
}
