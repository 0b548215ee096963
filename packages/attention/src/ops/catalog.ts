export { attention } from './attention.ts';
export { attentionDecode } from './attention-decode.ts';
export { attentionDecodeWide } from './attention-decode-wide.ts';
export { cacheRows } from './cache-rows.ts';
export { mergeStates } from './merge-states.ts';
