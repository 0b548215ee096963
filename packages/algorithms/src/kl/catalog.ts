export { abs } from './abs.ts';
export { k1 } from './k1.ts';
export { k2 } from './k2.ts';
export { k3, k3Bounded } from './k3.ts';
