export { idefics3 } from './idefics3.ts';
export { internvl } from './internvl.ts';
export { qwen } from './qwen.ts';
export { qwen3Vl } from './qwen3-vl.ts';
export { smolvlm } from './smolvlm.ts';
export { text } from './text.ts';
