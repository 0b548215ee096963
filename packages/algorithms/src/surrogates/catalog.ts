export { cispoSurrogate } from './cispo.ts';
export { clipped } from './clipped.ts';
export { dppoSurrogate } from './dppo.ts';
export { droSurrogate } from './dro.ts';
export { klCovSurrogate } from './kl-cov.ts';
export { logProbability } from './log-probability.ts';
export { sapoSurrogate } from './sapo.ts';
export { unclipped } from './unclipped.ts';
