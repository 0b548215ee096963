/** The Prometheus metrics of a tool service, beside those of every service. */
import type { ServiceMetrics } from '@saccade/http/service';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { CallEnd, CallEvents, ToolCalls } from '../calls/tool-calls.ts';
import type { PlaceEvents } from '../places/place.ts';

const seconds = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Counters that are not yet part of any registry. */
export class ToolMetrics implements CallEvents, Pick<PlaceEvents, 'onRestart'> {
  readonly #calls = new Histogram({
    name: 'saccade_tools_call_seconds',
    help: 'Calls by tool and outcome, waiting included',
    labelNames: ['tool', 'outcome'],
    ...{ buckets: seconds, registers: [] },
  });
  readonly #batches = new Histogram({
    name: 'saccade_tools_batch_size',
    help: 'Calls of one piece of work, by tool',
    labelNames: ['tool'],
    ...{ buckets: sizes, registers: [] },
  });
  readonly #hits = new Counter({
    name: 'saccade_tools_cache_hits_total',
    help: 'Calls answered by an equal call, by tool',
    labelNames: ['tool'],
    registers: [],
  });
  readonly #late = new Counter({
    name: 'saccade_tools_late_total',
    help: 'Outcomes that came after their call was given up, by tool',
    labelNames: ['tool'],
    registers: [],
  });
  readonly #restarts = new Counter({
    name: 'saccade_tools_restarts_total',
    help: 'Processes of tools that ended and were started again, by place and cause',
    labelNames: ['place', 'cause'],
    registers: [],
  });

  onEnd(tool: string, outcome: CallEnd, took: number): void {
    this.#calls.observe({ tool, outcome }, took);
  }

  onBatch(tool: string, size: number): void {
    this.#batches.observe({ tool }, size);
  }

  onCacheHit(tool: string): void {
    this.#hits.inc({ tool });
  }

  onLate(tool: string): void {
    this.#late.inc({ tool });
  }

  onRestart(place: string, cause: string): void {
    this.#restarts.inc({ place, cause });
  }

  addTo({ registry }: ServiceMetrics, calls: ToolCalls): void {
    const own = [this.#calls, this.#batches, this.#hits, this.#late, this.#restarts];
    for (const metric of own) registry.registerMetric(metric as Counter);
    const registers = [registry];
    const gauge = (name: string, help: string, key: 'waiting' | 'running'): void => {
      const made: Gauge<'tool'> = new Gauge({
        ...{ name, help, registers },
        labelNames: ['tool'],
        collect: () => {
          for (const queue of calls.queues()) made.set({ tool: queue.tool }, queue[key]);
        },
      });
    };
    gauge('saccade_tools_queue_length', 'Calls that wait, by tool', 'waiting');
    gauge('saccade_tools_running', 'Pieces of work that run, by tool', 'running');
    const bytes: Gauge = new Gauge({
      ...{ name: 'saccade_tools_cache_bytes', help: 'Bytes of remembered answers', registers },
      collect: () => bytes.set(calls.cache.bytes),
    });
  }
}
