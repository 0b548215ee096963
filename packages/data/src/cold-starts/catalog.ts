export { cardVideo } from './card-video.ts';
export { given } from './given.ts';
export { needle } from './needle.ts';
export { toolNeedle } from './tool-needle.ts';
export { turnedNeedle } from './turned-needle.ts';
