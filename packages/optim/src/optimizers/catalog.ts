export { adamw } from './adamw.ts';
export { adamw8bit } from './adamw-8bit.ts';
export { lion } from './lion.ts';
export { muon } from './muon.ts';
export { sgd } from './sgd.ts';
