/**
 * The record that flows through Saccade: an append-only ledger of token segments with their images,
 * and per turn the parsed action and what the tool gave back. Token in, token out: nothing is ever
 * tokenized again.
 */

import type { AffineMap } from './affine.ts';

/** An image of the context: what the model saw and where it came from. */
export interface TrajectoryImage {
  /** Name in the runtime and in file names, e.g. `image_clue_0`. */
  readonly name: string;
  /** PNG bytes at original resolution. */
  readonly png: Uint8Array;
  /** Size of the original, pixels. */
  readonly width: number;
  readonly height: number;
  /** Size the model was given after resizing, pixels. */
  readonly modelWidth: number;
  readonly modelHeight: number;
  /** Placeholder tokens in the context; equals the number of visual features. */
  readonly tokenCount: number;
  /** Where its pixels come from: an earlier image (or itself) and the map into its frame. */
  readonly origin?: { readonly image: string; readonly map: AffineMap };
}

/**
 * The author of a segment: the task (`prompt`), the policy (`model`), or the environment
 * (`observation`).
 */
export const segmentKinds = ['prompt', 'model', 'observation'] as const;

/** One of `segmentKinds`. Only tokens of `model` segments are trained on. */
export type SegmentKind = (typeof segmentKinds)[number];

/** A stretch of tokens by one author. `logprobs` exist exactly for `model` segments. */
export interface Segment {
  readonly kind: SegmentKind;
  /** [T] token ids. */
  readonly tokens: Int32Array;
  /** [T] nats, as recorded by the sampler; model segments only. */
  readonly logprobs?: Float32Array;
  /**
   * [T] the probability, before topK, topP and minP, of the tokens they left to sample from, where the
   * sampler tells: logprobs + ln keptMass are the policy's own. Model segments only.
   */
  readonly keptMass?: Float32Array;
  /** Images whose placeholders lie in this segment, in order. */
  readonly images: readonly TrajectoryImage[];
  /** The tokens as text, for people. */
  readonly text: string;
  /**
   * Optimizer steps of the policy that sampled them, where they are more than the trajectory's: new
   * weights came while it was rolled out. Model segments only.
   */
  readonly policyVersion?: number;
}

/** The model's request in one turn. */
export type Action =
  | { readonly kind: 'code'; readonly code: string }
  /**
   * A typed call. The tool may not exist and the arguments may not fit: the tool result says so. A
   * tool that runs code takes it as the argument `code`; see `codeOf`.
   */
  | {
      readonly kind: 'toolCall';
      readonly name: string;
      /** JSON: no number in it is infinite, nothing is nested deeper than `MAX_ARGUMENT_DEPTH`. */
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'answer'; readonly answer: string }
  /** None of them could be parsed; `reason` is a stable word such as `noCodeNorAnswer`. */
  | { readonly kind: 'invalid'; readonly reason: string };

/** Arguments nested deeper are refused, because JSON is written and read by recursion. */
export const MAX_ARGUMENT_DEPTH = 32;

/** Whether an action used a tool: ran code or called one. Only these have a tool result. */
export function isToolUse(
  action: Action,
): action is Extract<Action, { kind: 'code' | 'toolCall' }> {
  return action.kind === 'code' || action.kind === 'toolCall';
}

/** The code of an action: its own, or what it calls a tool with; undefined if there is none. */
export function codeOf(action: Action): string | undefined {
  if (action.kind === 'code') return action.code;
  if (action.kind !== 'toolCall') return undefined;
  const { code } = action.arguments;
  return typeof code === 'string' ? code : undefined;
}

/** How a tool call ended: the closed set of the sandbox's outcomes. */
export const toolResultKinds = [
  'ok',
  'exception',
  'timeout',
  'memory',
  'forbidden',
  'crashed',
  'infraError',
] as const;

/** The result of a tool, without its images (they are in the observation segment). */
export interface ToolResult {
  readonly kind: (typeof toolResultKinds)[number];
  readonly stdout: string;
  readonly stderr: string;
  readonly errorType?: string;
  readonly errorMessage?: string;
  /** Line of the code, counted from 1, that raised. */
  readonly errorLine?: number;
  readonly imageCount: number;
  readonly wallMs: number;
}

/** One turn of the model: the action that was parsed from its text, and what came of it. */
export interface Turn {
  readonly action: Action;
  readonly result?: ToolResult;
  /** Index of the model segment that made this turn. */
  readonly segment: number;
}

/**
 * Why a trajectory ended; a closed set.
 *
 * - `answered` a final answer was given;
 * - `turnLimit` the tool-turn budget ran out;
 * - `lengthLimit` the token budget ran out;
 * - `imageLimit` the image budget ran out;
 * - `toolError` the code failed and the protocol ends on failure;
 * - `invalidAction` neither code nor answer could be parsed;
 * - `failed` infrastructure broke: see `failure`.
 */
export const stopReasons = [
  'answered',
  'turnLimit',
  'lengthLimit',
  'imageLimit',
  'toolError',
  'invalidAction',
  'failed',
] as const;

/** Why a trajectory is over; one of `stopReasons`. */
export type StopReason = (typeof stopReasons)[number];

/** Where infrastructure can fail. */
export const boundaries = ['policy', 'tool', 'sandbox', 'env', 'reward'] as const;

/** Why a trajectory failed: an error, a deadline, or a cancellation. */
export const failureCauses = ['error', 'deadline', 'cancelled'] as const;

/** An infrastructure failure, named after the boundary it crossed. Never scored. */
export interface Failure {
  readonly boundary: (typeof boundaries)[number];
  readonly message: string;
  /** Default `error`. */
  readonly cause?: (typeof failureCauses)[number];
}

/** What stands for tokens that nobody sampled; see `trajectoryFromMessages`. */
export const tokenSources = ['encoded', 'bytes'] as const;

/**
 * The record of one rollout. `segments` joined in order are the whole context, token by token;
 * `turns` say what the model did in it. A rollout that broke has the `stopReason` `failed` and a
 * `failure`, and never a reward.
 */
export interface Trajectory {
  readonly id: string;
  readonly taskId: string;
  /** Index within its group, 0..G−1; G for a baseline. */
  readonly sampleIndex: number;
  /** True for a group's `baseline`: nothing trains on it, and no metric counts it. */
  readonly isBaseline?: boolean;
  readonly segments: readonly Segment[];
  readonly turns: readonly Turn[];
  readonly stopReason: StopReason;
  readonly failure?: Failure;
  /** Optimizer steps of the policy that sampled it; of its oldest segment if they differ. */
  readonly policyVersion: number;
  /**
   * Absent where a policy sampled the tokens. `encoded` were written anew from text by a tokenizer,
   * `bytes` are those of the text: rewards read such a trajectory, and nothing trains on it.
   */
  readonly tokenSource?: (typeof tokenSources)[number];
  /** How its tokens were truncated, absent if they were sampled from the whole distribution. */
  readonly truncation?: TrajectoryTruncation;
  /** The final answer as parsed, absent if none was given. */
  readonly answer?: string;
}

/** The filters that left unlikely tokens out of sampling; 0, 1 and 0 leave nothing out. */
export interface TrajectoryTruncation {
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
}

/** The G trajectories of one task. */
export interface Group<T = Trajectory> {
  readonly taskId: string;
  readonly trajectories: readonly T[];
  /**
   * One trajectory of the task at temperature 0, where an algorithm takes its reward as the baseline.
   * It is none of the G.
   */
  readonly baseline?: T;
}

/** The trajectories of a group, and its baseline after them. */
export function everyTrajectory<T>({ trajectories, baseline }: Group<T>): readonly T[] {
  return baseline === undefined ? trajectories : [...trajectories, baseline];
}

/** A trajectory with its reward, term by term. */
export interface ScoredTrajectory extends Trajectory {
  readonly reward: number;
  /** Weighted terms by name; they sum to `reward`. */
  readonly rewardTerms: Readonly<Record<string, number>>;
  /**
   * [K] reward of each turn, apart from `reward`; absent if nothing rewards turns. [K + 1] if the last
   * turn called a tool: a 0 stands for the answer that never came, as the last entry is the answer's.
   */
  readonly turnRewards?: readonly number[];
  /** Whether the final answer was judged right. */
  readonly isCorrect: boolean;
}

/** Tool calls that ran without error and were followed by another turn (PyVision-RL's n_tc). */
export function countToolCalls(trajectory: Trajectory): number {
  let count = 0;
  trajectory.turns.forEach((turn, index) => {
    if (!isToolUse(turn.action) || turn.result?.kind !== 'ok') return;
    if (index + 1 < trajectory.turns.length) count++;
  });
  return count;
}
