export { codedance } from './codedance.ts';
export { codev } from './codev.ts';
export { codevision } from './codevision.ts';
export { pyvision } from './pyvision.ts';
export { vista } from './vista.ts';
