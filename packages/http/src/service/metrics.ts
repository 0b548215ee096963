/** Prometheus metrics that every service has. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Rule } from './refusal.ts';

/** The Prometheus metrics of a service: requests, violations of rules, and the process. */
export interface ServiceMetrics {
  /** Registry to which a service adds its own metrics. */
  readonly registry: Registry;
  /** Counts a finished request; `seconds` includes waiting. */
  onRequest(route: string, status: number, seconds: number): void;
  /** Counts a violation of a rule. */
  onViolation(rule: Rule): void;
  /** The text of `/metrics` and its content type. */
  text(): Promise<{ readonly type: string; readonly text: string }>;
}

const buckets = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** @param name of the service: its metrics begin with `saccade_<name>_` */
export function serviceMetrics(name: string, running: () => number): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: `saccade_${name}_request_seconds`,
    help: 'Requests by route and status, waiting included',
    labelNames: ['route', 'status'],
    ...{ buckets, registers },
  });
  const violations = new Counter({
    name: `saccade_${name}_violations_total`,
    help: 'Requests that broke a rule, by rule',
    labelNames: ['rule'],
    ...{ registers },
  });
  const gauge: Gauge = new Gauge({
    name: `saccade_${name}_requests_running`,
    help: 'Requests in progress, waiting ones included',
    ...{ registers },
    collect: () => gauge.set(running()),
  });
  return {
    registry,
    onRequest: (route, status, seconds) => {
      requests.observe({ route, status: String(status) }, seconds);
    },
    onViolation: (rule) => violations.inc({ rule }),
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
