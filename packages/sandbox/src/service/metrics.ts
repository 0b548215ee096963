/** What the service counts, for Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { SandboxStats } from '../local-sandbox.ts';
import type { Outcome } from '../outcome.ts';

export interface ServiceMetrics {
  onRequest(route: string, status: number, seconds: number): void;
  onOutcome(protocol: string, outcome: Outcome): void;
  /** The text of `/metrics` and its type. */
  text(): Promise<{ readonly type: string; readonly text: string }>;
}

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
  ['server_restarts_total', 'Fork servers that died and were replaced', 'restarts'],
  ['server_recycles_total', 'Fork servers replaced for their age or size', 'recycled'],
];

export function serviceMetrics(stats: () => SandboxStats): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const name = (short: string): string => `saccade_sandbox_${short}`;
  for (const [short, help, key] of [...gauges, ...totals]) {
    const gauge: Gauge = new Gauge({
      ...{ name: name(short), help, registers },
      collect: () => gauge.set(stats()[key]),
    });
  }
  const requests = new Histogram({
    name: name('request_seconds'),
    help: 'Requests by route and status, waiting included',
    labelNames: ['route', 'status'],
    ...{ buckets, registers },
  });
  const executions = new Histogram({
    name: name('execution_seconds'),
    help: 'Executions by protocol and outcome, without waiting',
    labelNames: ['protocol', 'outcome'],
    ...{ buckets, registers },
  });
  const images = new Counter({
    name: name('images_total'),
    help: 'Pictures that code has shown',
    ...{ registers },
  });
  return {
    onRequest: (route, status, seconds) => {
      requests.observe({ route, status: String(status) }, seconds);
    },
    onOutcome: (protocol, outcome) => {
      executions.observe({ protocol, outcome: outcome.kind }, outcome.wallMs / 1000);
      images.inc(outcome.images.length);
    },
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
