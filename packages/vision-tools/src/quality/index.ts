export { measureQuality } from './measure-quality.ts';
export { mergeRows, qualityTable } from './quality-table.ts';
export * as suites from './suites/catalog.ts';
