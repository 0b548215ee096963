/**
 * A rollout that has not ended, as data from which a fresh environment can be brought to the same
 * point.
 */
import type { EnvStep } from '@saccade/gym';
import type { GivenTokens, Segment, Trajectory, TrajectoryImage, Turn } from '@saccade/trajectory';

/** A rollout up to its last whole turn. */
export interface PartialRollout {
  /** Its ledger, cut off; the observation that the last turn got is not in it. */
  readonly trajectory: Trajectory;
  /** Digest of that observation, or of nothing before the first turn. */
  readonly lastObservation: string;
}

/** Whether tokens and images are the same, to the byte. */
export function isSameMessage(a: GivenTokens, b: GivenTokens): boolean {
  return (
    isSame(a.tokens, b.tokens) &&
    a.images.length === b.images.length &&
    a.images.every((image, index) => isSameImage(image, b.images[index]))
  );
}

function isSameImage(a: TrajectoryImage, b: TrajectoryImage | undefined): boolean {
  return b !== undefined && a.name === b.name && isSame(a.png, b.png);
}

function isSame(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Whether a turn came out as recorded; how long it took may differ. */
export function isSameTurn({ action, result }: EnvStep, recorded: Turn): boolean {
  const timeless = (one: Turn['result']) => one && { ...one, wallMs: 0 };
  return (
    JSON.stringify(action) === JSON.stringify(recorded.action) &&
    JSON.stringify(timeless(result)) === JSON.stringify(timeless(recorded.result))
  );
}

/**
 * Tells observations apart; two 32-bit FNV-1a hashes, of different starts, over tokens and images.
 * They detect accidents only: nobody gains from forging an observation of their own rollout.
 */
export function digestOf(given: GivenTokens | undefined): string {
  if (given === undefined) return '';
  const arrays: readonly ArrayLike<number>[] = [
    given.tokens,
    ...given.images.map(({ png }) => png),
  ];
  return [0x811c9dc5, 0x9e3779b9]
    .map((start) => {
      let hash = start;
      for (const array of arrays) {
        hash = Math.imul(hash ^ array.length, 0x01000193);
        for (let i = 0; i < array.length; i++) {
          hash = Math.imul(hash ^ (array[i] as number), 0x01000193);
        }
      }
      return (hash >>> 0).toString(16).padStart(8, '0');
    })
    .join('');
}

/** The model segments of a ledger, and the policy version of each. */
export function modelSegments(
  trajectory: Trajectory,
): readonly { readonly segment: Segment; readonly policyVersion: number }[] {
  return trajectory.segments
    .filter(({ kind }) => kind === 'model')
    .map((segment) => ({
      segment,
      policyVersion: segment.policyVersion ?? trajectory.policyVersion,
    }));
}
