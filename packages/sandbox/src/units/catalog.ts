export { local } from './local.ts';
export { remote } from './remote.ts';
