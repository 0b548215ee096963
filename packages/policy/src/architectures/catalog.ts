export { qwen2_5_vl } from './qwen2_5_vl.ts';
