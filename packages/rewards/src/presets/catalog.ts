export { codedance } from './codedance.ts';
export { codev } from './codev.ts';
export { codevision } from './codevision.ts';
export { deepeyes } from './deepeyes.ts';
export { pyvision } from './pyvision.ts';
export { thyme } from './thyme.ts';
export { vista } from './vista.ts';
