export { http } from './http.ts';
