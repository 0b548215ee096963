/** The rules that every trajectory must satisfy, however it was made. */
import { DataError } from '@saccade/core';
import { imageViolations } from './check-images.ts';
import {
  isToolUse,
  type ScoredTrajectory,
  type Segment,
  stopReasons,
  type Trajectory,
} from './trajectory.ts';

/** Options of `checkTrajectory`. */
export interface CheckOptions {
  /** The token that stands in an image's place: with it, every placeholder is looked at. */
  readonly imageToken?: number | undefined;
}

/**
 * Everything that is wrong with a trajectory, one sentence each; empty if it keeps its invariants:
 *
 * - the segments are one prompt, then model and observation in turn; the last is never an
 *   observation;
 * - model segments, and only they, have log-probs, one finite number per token; they may have kept
 *   masses, one number in (0, 1] per token;
 * - a model segment's policy version, where it has one, is newer than the trajectory's;
 * - images lie in prompts and observations, have two sizes and a name of their own, come from
 *   earlier images, and their placeholders are there whole;
 * - turn k was made by the k-th model segment; a tool result answers code or a tool call; turn
 *   rewards, where there are any, are one for each turn;
 * - it ended for one of the known reasons; an answer exists exactly if it was answered, a failure
 *   exactly if it failed.
 */
export function trajectoryViolations(
  trajectory: Trajectory,
  options: CheckOptions = {},
): readonly string[] {
  const violations: string[] = [];
  checkOrder(trajectory, violations);
  const imageNames = new Set<string>();
  trajectory.segments.forEach((segment, index) => {
    const where = `segment ${index} (${segment.kind})`;
    violations.push(...segmentViolations(segment, where, imageNames, options));
    const { policyVersion = Number.POSITIVE_INFINITY } = segment;
    if (policyVersion <= trajectory.policyVersion) {
      violations.push(`${where} has policyVersion ${policyVersion}, not above the trajectory's`);
    } else if (segment.policyVersion !== undefined && segment.kind !== 'model') {
      violations.push(`${where} has a policyVersion, but nobody sampled it`);
    }
  });
  checkTurns(trajectory, violations);
  checkEnd(trajectory, violations);
  return violations;
}

/** @throws DataError naming the trajectory and everything that is wrong with it */
export function checkTrajectory(trajectory: Trajectory, options: CheckOptions = {}): void {
  const violations = trajectoryViolations(trajectory, options);
  if (violations.length === 0) return;
  throw new DataError(
    `Trajectory ${trajectory.id} breaks the ledger's rules: ${violations.join('; ')}. ` +
      'Build trajectories with TrajectoryBuilder.',
  );
}

function checkOrder(trajectory: Trajectory, violations: string[]): void {
  const { segments } = trajectory;
  segments.forEach((segment, index) => {
    const expected = index === 0 ? 'prompt' : index % 2 === 1 ? 'model' : 'observation';
    if (segment.kind !== expected) {
      violations.push(`segment ${index} must be of kind ${expected}, is ${segment.kind}`);
    }
  });
  // A trajectory that failed before its prompt was encoded has none.
  if (segments.length === 0 && trajectory.stopReason !== 'failed') {
    violations.push('it has no prompt');
  }
  if (segments.at(-1)?.kind === 'observation') violations.push('it ends with an observation');
}

/**
 * Everything that is wrong with one segment of a ledger.
 *
 * @param imageNames names of all earlier images; those of this segment are added
 */
export function segmentViolations(
  segment: Segment,
  where: string,
  imageNames: Set<string>,
  { imageToken }: CheckOptions = {},
): readonly string[] {
  const violations: string[] = [];
  const { tokens, logprobs } = segment;
  if (tokens.length === 0) violations.push(`${where} has no tokens`);
  if (tokens.some((token) => token < 0)) violations.push(`${where} has a token below 0`);
  if (segment.kind !== 'model') {
    if (logprobs !== undefined) violations.push(`${where} has logprobs`);
  } else if (logprobs === undefined) {
    violations.push(`${where} has no logprobs`);
  } else if (logprobs.length !== tokens.length) {
    violations.push(`${where} has ${tokens.length} tokens and ${logprobs.length} logprobs`);
  } else if (!logprobs.every(Number.isFinite)) {
    violations.push(`${where} has a logprob that is not finite`);
  }
  const { keptMass } = segment;
  if (keptMass !== undefined && segment.kind !== 'model') {
    violations.push(`${where} has keptMass, but nobody sampled it`);
  } else if (keptMass !== undefined && keptMass.length !== tokens.length) {
    violations.push(`${where} has ${tokens.length} tokens and ${keptMass.length} keptMass`);
  } else if (keptMass?.every((mass) => mass > 0 && mass <= 1) === false) {
    violations.push(`${where} has a keptMass outside (0, 1]`);
  }
  return [...violations, ...imageViolations(segment, where, imageNames, imageToken)];
}

function checkTurns(trajectory: Trajectory, violations: string[]): void {
  const { segments, turns, stopReason } = trajectory;
  turns.forEach((turn, index) => {
    if (segments[turn.segment]?.kind !== 'model' || turn.segment !== 2 * index + 1) {
      violations.push(`turn ${index} points at segment ${turn.segment}, not at ${2 * index + 1}`);
    }
    if (turn.result !== undefined && !isToolUse(turn.action)) {
      violations.push(`turn ${index} has a tool result but its action is ${turn.action.kind}`);
    }
  });
  const modelSegments = segments.filter((segment) => segment.kind === 'model').length;
  // A tool that breaks leaves its turn's tokens in the ledger, but no turn.
  const unfinished = stopReason === 'failed' ? 1 : 0;
  if (turns.length > modelSegments || turns.length < modelSegments - unfinished) {
    violations.push(`it has ${modelSegments} model segments and ${turns.length} turns`);
  }
  const { turnRewards } = trajectory as Partial<ScoredTrajectory>;
  const last = turns.at(-1);
  const unanswered = last !== undefined && isToolUse(last.action) ? 1 : 0;
  const spare = (turnRewards?.length ?? turns.length) - turns.length;
  if (turnRewards !== undefined && spare !== 0 && spare !== unanswered) {
    violations.push(`it has ${turns.length} turns and ${turnRewards.length} turn rewards`);
  }
}

function checkEnd(trajectory: Trajectory, violations: string[]): void {
  const { answer, failure, stopReason, turns } = trajectory;
  if (!stopReasons.includes(stopReason)) {
    violations.push(`it ended as ${stopReason}, which is none of ${stopReasons.join(', ')}`);
  }
  const last = turns.at(-1)?.action;
  if ((answer !== undefined) !== (stopReason === 'answered')) {
    violations.push(`it ${answer === undefined ? 'has no' : 'has an'} answer but is ${stopReason}`);
  }
  if (answer !== undefined && !(last?.kind === 'answer' && last.answer === answer)) {
    violations.push('its answer is not that of its last turn');
  }
  if ((failure !== undefined) !== (stopReason === 'failed')) {
    violations.push(
      `it ${failure === undefined ? 'has no' : 'has a'} failure but is ${stopReason}`,
    );
  }
  for (const field of ['sampleIndex', 'policyVersion'] as const) {
    if (!Number.isInteger(trajectory[field]) || trajectory[field] < 0) {
      violations.push(`${field} must be a whole number from 0, is ${trajectory[field]}`);
    }
  }
}
