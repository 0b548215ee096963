export { adaptiveEntropy } from './adaptive-entropy.ts';
export { adaptiveKl } from './adaptive-kl.ts';
