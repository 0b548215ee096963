export { http } from './http-engine.ts';
