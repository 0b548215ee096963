export { type AviOptions, encodeAvi } from './avi.ts';
export type { Budgets } from './budgets.ts';
export type { CodeRuntime } from './code-runtime.ts';
export {
  DEFAULT_EXECUTION_SECONDS,
  defineProtocol,
  type ProtocolDefinition,
  type ProtocolUnit,
} from './define-protocol.ts';
export { defineTaskSet, type TaskSetDefinition, type TaskSetUnit } from './define-task-set.ts';
export type { Env, EnvReset, EnvStep } from './env.ts';
export { idInTaskSet, inEpochs } from './epochs.ts';
export {
  type Hand,
  type HandOwner,
  type HandSigns,
  handOf,
  type Step,
  type StepKind,
  type StepPlace,
  showsImage,
  stepAction,
} from './hand.ts';
export { DIGIT_SIZE, type Digits, mnist } from './mnist.ts';
export type { MessagePart, ObservationPlace, Protocol } from './protocol.ts';
export { type CodedanceOptions, codedance, codedanceWith } from './protocols/codedance.ts';
export { type CodevOptions, codev, codevWith } from './protocols/codev.ts';
export { codevision } from './protocols/codevision.ts';
export {
  type PyvisionImageOptions,
  pyvisionImage,
  pyvisionImageShort,
  pyvisionImageWith,
} from './protocols/pyvision-image.ts';
export {
  type PyvisionVideoOptions,
  pyvisionVideo,
  pyvisionVideoShort,
  pyvisionVideoWith,
} from './protocols/pyvision-video.ts';
export { type VistaOptions, vista, vistaWith } from './protocols/vista.ts';
export { type KnownProtocol, type KnownTaskSet, protocols, taskSets } from './registry.ts';
export type {
  DataFacts,
  Split,
  Task,
  TaskImage,
  TaskSet,
  TaskSetContext,
  TaskVideo,
} from './task.ts';
export {
  CARD_VIDEO_SIZE,
  type CardClip,
  type CardVideoFacts,
  type CardVideoOptions,
  cardVideoQuestion,
  cardVideoWith,
  defaultCardVideo,
  drawCardClip,
  drawCardFrame,
  drawFilmStrip,
} from './tasksets/card-video.ts';
export {
  type Box,
  CARD_SIZE,
  drawDecoy,
  drawLook,
  drawPrint,
  type PixelImage,
} from './tasksets/draw-needle.ts';
export {
  defaultNeedle,
  encodeImage,
  type NeedleFacts,
  type NeedleOptions,
  needle,
  needleFacts,
  needleQuestion,
  needleWith,
} from './tasksets/needle.ts';
export {
  codeQuestion,
  codeTool,
  drawCodeNumber,
  type ToolNeedleFacts,
  toolNeedleWith,
} from './tasksets/tool-needle.ts';
export { composeTurn, inverseTurn, type TurnTool, turnBox, turnTools } from './tasksets/turn.ts';
export {
  type TurnedNeedleFacts,
  type TurnedNeedleOptions,
  turnedNeedleWith,
} from './tasksets/turned-needle.ts';
export { createToolEnv, type ToolEnvOptions } from './tool-env.ts';
export { uniformFrames, uniformIndices } from './uniform-frames.ts';
