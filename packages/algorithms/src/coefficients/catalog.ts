export { adaptiveEntropy, adaptiveEntropyStart } from './adaptive-entropy.ts';
export { adaptiveKl } from './adaptive-kl.ts';
