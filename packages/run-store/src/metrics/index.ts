export { findMetric, meaningOf, metricCatalog } from './catalog.ts';
export type { Metric } from './metric.ts';
