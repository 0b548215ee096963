export { dataset } from './dataset.ts';
export { mixture } from './mixture.ts';
