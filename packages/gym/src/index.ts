export type { Budgets, Env, EnvReset, EnvStep } from './env.ts';
export { DIGIT_SIZE, type Digits, mnist } from './mnist.ts';
export type { MessagePart, Protocol } from './protocol.ts';
export {
  pyvisionImage,
  pyvisionImageShort,
  pyvisionImageWith,
} from './protocols/pyvision-image.ts';
export { protocols, taskSets } from './registry.ts';
export type { Split, Task, TaskImage, TaskSet } from './task.ts';
export { type Box, CARD_SIZE, drawDecoy, drawLook, drawPrint } from './tasksets/draw-needle.ts';
export {
  defaultNeedle,
  encodePicture,
  type NeedleFacts,
  type NeedleOptions,
  needle,
  needleFacts,
  needleQuestion,
  needleWith,
} from './tasksets/needle.ts';
export { composeTurn, inverseTurn, type TurnTool, turnBox, turnTools } from './tasksets/turn.ts';
export {
  type TurnedNeedleFacts,
  type TurnedNeedleOptions,
  turnedNeedleWith,
} from './tasksets/turned-needle.ts';
export { createToolEnv, type ToolEnvOptions } from './tool-env.ts';
