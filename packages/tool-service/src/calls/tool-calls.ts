/** Every call of a service: from what was asked to one outcome, or the reason that there is none. */
import { ConfigError, nearestName } from '@saccade/core';
import type { Outcome } from '@saccade/sandbox';
import type { GivenArguments, ToolImage } from '@saccade/tools';
import { CallFault, type CallFaultKind } from '../faults.ts';
import type { Place } from '../places/place.ts';
import { reasonOf } from '../places/tool-runner.ts';
import type { DescribedTool } from '../wire.ts';
import { type Answer, AnswerCache, keyOf } from './answer-cache.ts';
import { type QueueLimits, ToolQueue } from './tool-queue.ts';

/** Limits of one tool. */
export interface ToolLimits extends QueueLimits {
  /** Longest call, its wait included. */
  readonly timeoutSeconds: number;
  /**
   * Longest run of a call, its wait excluded. Less than the other, so that what hangs is noticed
   * while those who wait behind it still have time.
   */
  readonly runSeconds: number;
}

/** How a call ended, for counters. */
export type CallEnd = Outcome['kind'] | CallFaultKind;

/** Told what happens to calls. */
export interface CallEvents {
  onEnd?(tool: string, end: CallEnd, seconds: number): void;
  onBatch?(tool: string, size: number): void;
  onCacheHit?(tool: string): void;
  onLate?(tool: string): void;
}

export interface ToolCallsOptions extends CallEvents {
  readonly places: readonly Place[];
  readonly limitsOf: (tool: string, place: Place) => ToolLimits;
  /** Limit for all cached answers together. */
  readonly cacheBytes: number;
  /** Limit per image that a tool returns. */
  readonly maxPixels: number;
}

/** A call as it was asked for. */
export interface AskedCall {
  readonly given: GivenArguments;
  readonly images: readonly ToolImage[];
  /** Milliseconds after which it is given up, if that is less than the tool's own. */
  readonly deadlineMs?: number | undefined;
  /** Aborts when whoever asks has gone. */
  readonly signal: AbortSignal;
}

/** The work of a tool, waiting and running. */
export interface QueueState {
  readonly tool: string;
  /** Calls that wait. */
  readonly waiting: number;
  /** Pieces of work that run. */
  readonly running: number;
  /** Pieces of work that may run at a time. */
  readonly most: number;
}

interface Served {
  readonly tool: DescribedTool;
  readonly queue: ToolQueue;
  readonly limits: ToolLimits;
}

export class ToolCalls {
  readonly #served: ReadonlyMap<string, Served>;
  readonly #cache: AnswerCache;
  readonly #events: CallEvents;

  /** @throws ConfigError for two tools of one name */
  constructor(options: ToolCallsOptions) {
    this.#events = options;
    this.#cache = new AnswerCache(options.cacheBytes);
    const served = new Map<string, Served>();
    for (const place of options.places) {
      for (const tool of place.tools) {
        const { name } = tool;
        if (served.has(name)) {
          throw new ConfigError('tools', `tools: two of them are called ${name}. Leave one out.`);
        }
        const given = options.limitsOf(name, place);
        const limits = { ...given, maxBatch: tool.takesBatches ? given.maxBatch : 1 };
        const queue = new ToolQueue({
          ...{ tool: name, place, limits, maxPixels: options.maxPixels },
          onBatch: (size) => options.onBatch?.(name, size),
          onLate: () => options.onLate?.(name),
        });
        served.set(name, { tool, queue, limits });
      }
    }
    this.#served = served;
  }

  get tools(): readonly DescribedTool[] {
    return [...this.#served.values()].map(({ tool }) => tool);
  }

  get cache(): { readonly bytes: number; readonly size: number } {
    return this.#cache;
  }

  /** The work of each tool, waiting and running. */
  queues(): readonly QueueState[] {
    return [...this.#served].map(([tool, { queue, limits }]) => {
      return { tool, waiting: queue.length, running: queue.running, most: limits.maxRunning };
    });
  }

  find(name: string): DescribedTool | undefined {
    return this.#served.get(name)?.tool;
  }

  /** A known name like this one. */
  nearest(name: string): string | undefined {
    return nearestName(name.slice(0, 100), [...this.#served.keys()]);
  }

  /**
   * One outcome of one call.
   *
   * @param name of a tool that `find` finds
   * @throws CallFault
   */
  async call(name: string, asked: AskedCall): Promise<Answer> {
    const served = this.#served.get(name);
    if (served === undefined) throw new CallFault('unavailable', `There is no tool ${name}.`);
    const began = performance.now();
    const end = (how: CallEnd): void => {
      this.#events.onEnd?.(name, how, (performance.now() - began) / 1000);
    };
    try {
      const answer = await this.#answer(served, asked);
      if (answer.isCached) this.#events.onCacheHit?.(name);
      end(answer.outcome.kind);
      return answer;
    } catch (error) {
      end(error instanceof CallFault ? error.kind : 'failed');
      throw error;
    }
  }

  async #answer({ tool, queue, limits }: Served, asked: AskedCall): Promise<Answer> {
    const { given, images } = asked;
    const mostMs = limits.timeoutSeconds * 1000;
    const limit = timeLimit(asked.signal, Math.min(asked.deadlineMs ?? mostMs, mostMs));
    const runMs = limits.runSeconds * 1000;
    try {
      const { signal } = limit;
      if (!tool.isDeterministic) {
        const outcome = await queue.run({ given, images, signal, runMs });
        return { outcome, isCached: false };
      }
      const { name, version } = tool;
      return await this.#cache.answer(
        keyOf({ tool: name, version, given, images }),
        signal,
        (shared) => queue.run({ given, images, signal: shared, runMs }),
      );
    } catch (error) {
      // A shared call says that nobody waits; this caller has a reason of its own.
      throw limit.signal.aborted ? reasonOf(limit.signal) : error;
    } finally {
      limit.clear();
    }
  }
}

/** A signal that aborts with a `CallFault` when time is up or whoever asked has gone. */
function timeLimit(
  asker: AbortSignal,
  ms: number,
): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const leave = (): void => {
    controller.abort(new CallFault('left', 'Whoever asked has gone.', { cause: asker.reason }));
  };
  const timer = setTimeout(() => {
    controller.abort(new CallFault('deadline', `It was not done within ${Math.round(ms)} ms.`));
  }, ms);
  if (asker.aborted) leave();
  asker.addEventListener('abort', leave, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      asker.removeEventListener('abort', leave);
    },
  };
}
