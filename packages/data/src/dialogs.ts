export { dialogFormats, type FormatChoice, readDialogs, writeDialogs } from './dialog-formats.ts';
export {
  type DialogFormat,
  type DialogRow,
  type DialogSample,
  defineFormat,
  type RefusedRow,
  RowRefused,
  type WrittenRows,
} from './formats/format.ts';
export { ImageFolder } from './formats/image-files.ts';
export { sampleOf } from './formats/saccade.ts';
export { messagesOf, trajectoryOf } from './formats/trajectory-messages.ts';
export { inWordsOf, type WordedDialog, type WordedTurn } from './words.ts';
