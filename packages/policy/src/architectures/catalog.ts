export { idefics3 } from './idefics3.ts';
export { internvl } from './internvl.ts';
export { qwen2 } from './qwen2.ts';
export { qwen2_5_vl } from './qwen2_5_vl.ts';
export { qwen3 } from './qwen3.ts';
export { qwen3_vl } from './qwen3_vl.ts';
export { qwen3_vl_moe } from './qwen3_vl_moe.ts';
export { smolvlm } from './smolvlm.ts';
