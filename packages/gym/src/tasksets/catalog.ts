export { needle } from './needle.ts';
