export { nano } from './nano.ts';
export { pretrained } from './pretrained.ts';
