export {
  type DialogFormat,
  type DialogRow,
  type DialogSample,
  defineFormat,
  type RefusedRow,
  RowRefused,
  type WrittenRows,
} from './format.ts';
export { ImageFolder } from './image-files.ts';
export { dialogFormats, type FormatChoice, readDialogs, writeDialogs } from './registry.ts';
export { sampleOf } from './saccade.ts';
export { messagesOf, trajectoryOf } from './trajectory-messages.ts';
export { inWordsOf, type WordedDialog, type WordedTurn } from './words.ts';
