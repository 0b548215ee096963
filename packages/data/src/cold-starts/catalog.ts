export { cardVideo } from './card-video.ts';
export { needle } from './needle.ts';
export { turnedNeedle } from './turned-needle.ts';
