export { nano } from './nano.ts';
