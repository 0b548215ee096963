export { attention } from './attention.ts';
export { attentionDecode } from './attention-decode.ts';
