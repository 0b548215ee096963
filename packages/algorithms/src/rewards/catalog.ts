export { overlongPenalty } from './overlong.ts';
