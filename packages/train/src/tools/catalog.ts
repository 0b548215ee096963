export { remote } from './remote.ts';
export { served } from './served.ts';
