/** Numbers about trajectories that are logged and shown. */
import { type AdvantagedTrajectory, isBroken } from '@saccade/schedulers';
import { isToolUse, type ScoredTrajectory, type Trajectory } from '@saccade/trajectory';

/** Arithmetic mean; 0 for an empty list. Use `meanOf` where 0 would be read as a measurement. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A mean by name; absent for an empty list, where 0 would look like a measurement. */
export function meanOf(name: string, values: readonly number[]): Record<string, number> {
  return values.length === 0 ? {} : { [name]: mean(values) };
}

function std(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
}

/** Code executions and tool calls of a trajectory, whatever their result: `tool_calls/mean`. */
export function countLooks({ turns }: Trajectory): number {
  return turns.filter(({ action }) => isToolUse(action)).length;
}

/** Tokens that stand for images in the context, those of the prompt included. */
export function visualTokens({ segments }: Trajectory): number {
  const images = segments.flatMap((segment) => segment.images);
  return images.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}

/** Tokens the model wrote. */
function modelTokens({ segments }: Trajectory): number {
  return segments.reduce(
    (sum, { kind, tokens }) => sum + (kind === 'model' ? tokens.length : 0),
    0,
  );
}

/**
 * The metrics that TRL logs of completions and rewards, and those that agents add: over all
 * trajectories rolled out in a step, before anything is filtered.
 */
export function rolloutMetrics(
  groups: readonly { readonly trajectories: readonly ScoredTrajectory[] }[],
): Record<string, number> {
  const all = groups.flatMap(({ trajectories }) => trajectories);
  const groupStds = groups.map(({ trajectories }) => std(trajectories.map(({ reward }) => reward)));
  const terms = new Set(all.flatMap(({ rewardTerms }) => Object.keys(rewardTerms)));
  const lengths = all.map(modelTokens);
  return {
    reward: mean(all.map(({ reward }) => reward)),
    reward_std: mean(groupStds),
    frac_reward_zero_std: mean(groupStds.map((value) => (value === 0 ? 1 : 0))),
    ...Object.fromEntries(
      [...terms].map((term) => [
        `rewards/${term}/mean`,
        mean(all.map(({ rewardTerms }) => rewardTerms[term] ?? 0)),
      ]),
    ),
    accuracy: mean(all.map(({ isCorrect }) => (isCorrect ? 1 : 0))),
    'completions/mean_length': mean(lengths),
    'completions/max_length': Math.max(0, ...lengths),
    'completions/clipped_ratio': mean(
      all.map(({ stopReason }) => (stopReason === 'lengthLimit' ? 1 : 0)),
    ),
    'tool_calls/mean': mean(all.map(countLooks)),
    'tool_calls/zero_ratio': mean(all.map((trajectory) => (countLooks(trajectory) === 0 ? 1 : 0))),
    'visual_tokens/mean': mean(all.map(visualTokens)),
    'turns/mean': mean(all.map(({ turns }) => turns.length)),
    ...keptMass(all),
    'broken/ratio': mean(all.map((trajectory) => (isBroken(trajectory) ? 1 : 0))),
  };
}

/** `sampling/kept_mass` over the tokens that were sampled with truncation; nothing without. */
function keptMass(all: readonly Trajectory[]): Record<string, number> {
  const masses = all.flatMap(({ segments }) => segments.flatMap((one) => one.keptMass ?? []));
  const sum = masses.reduce((total, mass) => total + mass.reduce((part, one) => part + one, 0), 0);
  const count = masses.reduce((total, { length }) => total + length, 0);
  return count === 0 ? {} : { 'sampling/kept_mass': sum / count };
}

/** Share of right trajectories that are pushed down: correct, but below their group's mean. */
export function positiveNegativeRatio(trained: readonly AdvantagedTrajectory[]): number {
  const right = trained.filter(({ trajectory }) => trajectory.isCorrect);
  return mean(right.map(({ advantage }) => (advantage < 0 ? 1 : 0)));
}
