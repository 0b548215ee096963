/**
 * Two trajectories side by side, token by token and log-prob by log-prob: where they differ first.
 */
import type { Segment, ToolResult, Trajectory, TrajectoryImage } from '@saccade/trajectory';

/** The kinds of differences, in the order of comparison within a segment. */
export const differenceKinds = [
  'token',
  'logprob',
  'image',
  'action',
  'result',
  'version',
  'end',
] as const;

/** The first place where two trajectories differ in one kind of thing. */
export interface Difference {
  readonly kind: (typeof differenceKinds)[number];
  /** Index of the segment; absent for how the trajectory ended. */
  readonly segment?: number;
  /** Index of the token within its segment, and within the whole context. */
  readonly token?: number;
  readonly position?: number;
  /** The content at that place on each side, as text; empty where one ended before. */
  readonly recorded: string;
  readonly replayed: string;
  /** Nats, of a token or log-prob of the model. */
  readonly recordedLogprob?: number;
  readonly replayedLogprob?: number;
}

/** The result of `compareTrajectories`. */
export interface Comparison {
  /** The first difference of each kind, in the order of the ledger; empty if they are equal. */
  readonly differences: readonly Difference[];
  /** Tokens of the model that both have, up to the first token that differs. */
  readonly sampledTokens: number;
  /** Largest |recorded − replayed| of their log-probs, nats. */
  readonly largestLogprobDifference: number;
}

/**
 * Compares tokens, the sampler's log-probs (bit for bit), images, actions, tool results (except
 * their time), versions of the weights, and the end. Comparison stops after the first token that
 * differs, because everything after it was written in another context.
 */
export function compareTrajectories(recorded: Trajectory, replayed: Trajectory): Comparison {
  const found = new Map<Difference['kind'], Difference>();
  const note = (difference: Difference): void => {
    if (!found.has(difference.kind)) found.set(difference.kind, difference);
  };
  let [position, sampledTokens, largest, turn] = [0, 0, 0, 0];
  const count = Math.max(recorded.segments.length, replayed.segments.length);
  for (let s = 0; s < count && !found.has('token'); s++) {
    const [old, now] = [recorded.segments[s], replayed.segments[s]];
    const { same, difference } = compareTokens(old, now, s, position);
    if (difference) note(difference);
    for (let i = 0; i < same && old?.logprobs !== undefined; i++) {
      sampledTokens++;
      const [a, b] = [old.logprobs[i] ?? Number.NaN, now?.logprobs?.[i] ?? Number.NaN];
      if (a === b) continue;
      largest = Math.max(largest, Math.abs(a - b));
      const where = { segment: s, token: i, position: position + i };
      const values = { recordedLogprob: a, replayedLogprob: b };
      note({ kind: 'logprob', ...where, recorded: String(a), replayed: String(b), ...values });
    }
    if (found.has('token')) break;
    for (const difference of compareImages(old, now, s)) note(difference);
    if (old?.kind === 'model') {
      for (const one of compareTurn(recorded, replayed, turn++, s)) note(one);
    }
    position += same;
  }
  if (!found.has('token')) {
    for (const one of compareEnds(recorded, replayed)) note(one);
  }
  return { differences: [...found.values()], sampledTokens, largestLogprobDifference: largest };
}

function compareTokens(
  old: Segment | undefined,
  now: Segment | undefined,
  segment: number,
  start: number,
): { readonly same: number; readonly difference?: Difference } {
  const length = Math.max(old?.tokens.length ?? 0, now?.tokens.length ?? 0);
  for (let token = 0; token < length; token++) {
    const [a, b] = [old?.tokens[token], now?.tokens[token]];
    if (a === b) continue;
    const [recordedLogprob, replayedLogprob] = [old?.logprobs?.[token], now?.logprobs?.[token]];
    const difference: Difference = {
      kind: 'token',
      segment,
      token,
      position: start + token,
      recorded: String(a ?? ''),
      replayed: String(b ?? ''),
      ...(recordedLogprob !== undefined && { recordedLogprob }),
      ...(replayedLogprob !== undefined && { replayedLogprob }),
    };
    return { same: token, difference };
  }
  return { same: length };
}

function* compareImages(
  old: Segment | undefined,
  now: Segment | undefined,
  segment: number,
): Generator<Difference> {
  const count = Math.max(old?.images.length ?? 0, now?.images.length ?? 0);
  for (let i = 0; i < count; i++) {
    const [a, b] = [old?.images[i], now?.images[i]];
    if (a !== undefined && b !== undefined && isSameImage(a, b)) continue;
    const [recorded, replayed] = [describeImage(a), describeImage(b)];
    yield { kind: 'image', segment, recorded, replayed };
    return;
  }
}

function isSameImage(a: TrajectoryImage, b: TrajectoryImage): boolean {
  return (
    a.name === b.name &&
    a.png.length === b.png.length &&
    a.png.every((byte, i) => byte === b.png[i]) &&
    JSON.stringify(a.origin) === JSON.stringify(b.origin)
  );
}

function describeImage(image: TrajectoryImage | undefined): string {
  if (image === undefined) return '';
  return `${image.name}, ${image.width}×${image.height}, ${image.png.length} bytes`;
}

function* compareTurn(
  recorded: Trajectory,
  replayed: Trajectory,
  turn: number,
  segment: number,
): Generator<Difference> {
  const [old, now] = [recorded.turns[turn], replayed.turns[turn]];
  const action = changed(old?.action, now?.action);
  if (action) yield { kind: 'action', segment, ...action };
  const result = changed(timeless(old?.result), timeless(now?.result));
  if (result) yield { kind: 'result', segment, ...result };
  const version = changed(versionOf(recorded, segment), versionOf(replayed, segment));
  if (version) yield { kind: 'version', segment, ...version };
}

function* compareEnds(recorded: Trajectory, replayed: Trajectory): Generator<Difference> {
  // The message of a failure may differ each time.
  const endOf = ({ stopReason, answer }: Trajectory) => ({ stopReason, answer });
  const end = changed(endOf(recorded), endOf(replayed));
  if (end) yield { kind: 'end', ...end };
}

function versionOf({ segments, policyVersion }: Trajectory, segment: number): number {
  return segments[segment]?.policyVersion ?? policyVersion;
}

/** Times differ from run to run. */
function timeless(result: ToolResult | undefined): Omit<ToolResult, 'wallMs'> | undefined {
  if (result === undefined) return undefined;
  const { wallMs: _, ...rest } = result;
  return rest;
}

function changed(
  a: unknown,
  b: unknown,
): { readonly recorded: string; readonly replayed: string } | undefined {
  const [recorded, replayed] = [JSON.stringify(a) ?? '', JSON.stringify(b) ?? ''];
  return recorded === replayed ? undefined : { recorded, replayed };
}
