export { cuda } from './cuda.ts';
export { native } from './native.ts';
export { reference } from './reference.ts';
export { webgpu } from './webgpu.ts';
