/** Every metric that a run logs, and how a logged name finds its entry. */
import { evaluationAndTime, learning, rollouts } from './metrics/catalog.ts';
import type { Metric } from './metrics/metric.ts';

export type { Metric } from './metrics/metric.ts';

/**
 * Every metric that a run may log, with its unit and meaning. `docs/metrics.md` is made from it.
 */
export const metricCatalog: readonly Metric[] = [...rollouts, ...learning, ...evaluationAndTime];

const exact = new Map(metricCatalog.map((metric) => [metric.name, metric]));
const families = metricCatalog
  .filter(({ name }) => name.includes('<'))
  .map((metric) => ({ metric, pattern: patternOf(metric.name) }));

function patternOf(name: string): RegExp {
  const parts = name.split(/<[^>]+>/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('([^/]+)')}$`);
}

/** The entry of a logged name; an exact one goes before a family. Undefined if there is none. */
export function findMetric(name: string): Metric | undefined {
  return exact.get(name) ?? families.find(({ pattern }) => pattern.test(name))?.metric;
}

/** The sentence that captions show. @throws RangeError for a name that is in no entry */
export function meaningOf(name: string): string {
  const metric = findMetric(name);
  if (metric === undefined) {
    throw new RangeError(`No metric is called "${name}". Add it to the catalog in run-store.`);
  }
  return metric.meaning;
}
