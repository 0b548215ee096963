export { measureQuality, type QualityOptions } from './measure-quality.ts';
export type { Draw, QualityCase, QualityReport, QualitySuite, Scores } from './quality.ts';
export { mergeRows, qualityTable } from './quality-table.ts';
export * as suites from './suites/catalog.ts';
