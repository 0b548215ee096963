export { qwen2 } from './qwen2.ts';
export { qwen2_5_vl } from './qwen2_5_vl.ts';
export { qwen3 } from './qwen3.ts';
