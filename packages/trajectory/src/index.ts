export { type GivenTokens, type ModelTokens, TrajectoryBuilder } from './builder.ts';
export { checkTrajectory, trajectoryViolations } from './check.ts';
export {
  formatTrajectoryLine,
  isScored,
  parseTrajectoryLine,
  type StoredTrajectory,
  type Tags,
  type TrajectoryLine,
  withImages,
} from './json.ts';
export {
  type Action,
  type AffineMap,
  countToolCalls,
  type Failure,
  type Group,
  type ScoredTrajectory,
  type Segment,
  type SegmentKind,
  type StopReason,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
  type Turn,
} from './trajectory.ts';
