/** The sandbox's counts for Prometheus, besides those of every service. */
import type { ServiceMetrics } from '@saccade/http/service';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { SandboxStats } from '../local-sandbox.ts';
import type { Outcome } from '../outcome.ts';

const buckets = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Gauges of the sandbox: name, what it is, the number. */
const gauges: readonly (readonly [string, string, keyof SandboxStats])[] = [
  ['sessions_open', 'Sessions with a living process', 'open'],
  ['calls_waiting', 'Calls that wait for a session or a processor', 'waiting'],
  ['executions_running', 'Executions that run now', 'running'],
  ['servers', 'Fork servers that are alive', 'servers'],
];

/** Totals that the sandbox counts itself. */
const totals: readonly (readonly [string, string, keyof SandboxStats])[] = [
  ['sessions_total', 'Sessions opened', 'started'],
  ['session_violations_total', 'Sessions ended for forging replies', 'violations'],
  ['server_restarts_total', 'Fork servers that died and were replaced', 'restarts'],
  ['server_recycles_total', 'Fork servers replaced for their age or size', 'recycled'],
];

/** Counters of executions and images, not yet part of any registry. */
export class SandboxMetrics {
  readonly #executions: Histogram<'protocol' | 'outcome'> = new Histogram({
    name: 'saccade_sandbox_execution_seconds',
    help: 'Executions by protocol and outcome, without waiting',
    labelNames: ['protocol', 'outcome'],
    ...{ buckets, registers: [] },
  });
  readonly #images: Counter = new Counter({
    name: 'saccade_sandbox_images_total',
    help: 'Images that code has shown',
    registers: [],
  });

  onOutcome(protocol: string, outcome: Outcome): void {
    this.#executions.observe({ protocol, outcome: outcome.kind }, outcome.wallMs / 1000);
    this.#images.inc(outcome.images.length);
  }

  addTo({ registry }: ServiceMetrics, stats: () => SandboxStats): void {
    registry.registerMetric(this.#executions);
    registry.registerMetric(this.#images);
    for (const [short, help, key] of [...gauges, ...totals]) {
      const gauge: Gauge = new Gauge({
        ...{ name: `saccade_sandbox_${short}`, help, registers: [registry] },
        collect: () => gauge.set(stats()[key]),
      });
    }
  }
}
