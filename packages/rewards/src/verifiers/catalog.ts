export { exact } from './exact.ts';
export { numeric } from './numeric.ts';
