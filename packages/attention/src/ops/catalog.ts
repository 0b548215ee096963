export { attention } from './attention.ts';
export { attentionDecode } from './attention-decode.ts';
export { mergeStates } from './merge-states.ts';
