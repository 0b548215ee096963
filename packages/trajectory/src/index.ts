export {
  type AffineMap,
  applyAffine,
  composeAffine,
  invertAffine,
  isInvertible,
  readAffineMap,
} from './affine.ts';
export {
  type GivenTokens,
  type ModelTokens,
  TrajectoryBuilder,
  type TrajectoryIdentity,
} from './builder.ts';
export { type CheckOptions, checkTrajectory, trajectoryViolations } from './check.ts';
export { type FromMessagesOptions, trajectoryFromMessages } from './from-messages.ts';
export {
  formatTrajectoryLine,
  isScored,
  parseTrajectoryLine,
  type StoredTrajectory,
  type Tags,
  type TrajectoryLine,
  withImages,
} from './json.ts';
export type { Message, MessagePart, MessageToolCall } from './messages.ts';
export {
  type Action,
  boundaries,
  codeOf,
  countToolCalls,
  everyTrajectory,
  type Failure,
  failureCauses,
  type Group,
  isToolUse,
  MAX_ARGUMENT_DEPTH,
  type ScoredTrajectory,
  type Segment,
  type SegmentKind,
  type StopReason,
  segmentKinds,
  stopReasons,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
  type TrajectoryTruncation,
  type Turn,
  toolResultKinds,
} from './trajectory.ts';
