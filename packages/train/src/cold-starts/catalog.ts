export { needle } from './needle.ts';
export { turnedNeedle } from './turned-needle.ts';
