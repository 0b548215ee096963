/** Conversations with servers that were recorded, and given again. */
export { openRecorder, type Recorder, type RecorderOptions } from './record.ts';
export {
  type Exchange,
  parseRecording,
  type RecordedBody,
  type Recording,
  type RecordingLabel,
} from './recording.ts';
export { type ReplayServer, replayServer } from './replay.ts';
