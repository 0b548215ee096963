/** Trajectories of two runs side by side, and how near a tie a token was that differs. */
import { philox4x32, randomAt, unitOpen } from '@saccade/core';
import type { Trajectory, TrajectoryLine } from '@saccade/trajectory';
import { readTrajectoryLines } from '@saccade/trajectory/files';

/** All lines of a file of trajectories, without their images' bytes. */
export async function readLines(path: string): Promise<readonly TrajectoryLine[]> {
  const lines: TrajectoryLine[] = [];
  for await (const line of readTrajectoryLines(path)) lines.push(line);
  return lines;
}

/**
 * Says where two files of the same rollouts sample another token first, and by how much.
 *
 * A token is the one of the largest log-prob + Gumbel number, and both runs draw the same numbers.
 * The margin is the score of a's token by a's log-prob less that of b's token by b's log-prob. If
 * no score differs by more than ε between the runs, neither does the margin: a larger one is no tie.
 *
 * @returns one line per trajectory that differs
 */
export function describeDifferences(
  a: readonly TrajectoryLine[],
  b: readonly TrajectoryLine[],
  seed: number,
): readonly string[] {
  return a.flatMap((line, i) => {
    const other = b[i];
    const { trajectory } = line;
    if (other === undefined) return [`${trajectory.id} is missing`];
    return differenceOf(trajectory, other.trajectory, seed);
  });
}

function differenceOf(a: Trajectory, b: Trajectory, seed: number): readonly string[] {
  let [position, turn] = [0, 0];
  for (const [s, segment] of a.segments.entries()) {
    const other = b.segments[s];
    const length = Math.max(segment.tokens.length, other?.tokens.length ?? 0);
    for (let i = 0; i < length; i++, position++) {
      const [mine, theirs] = [segment.tokens[i], other?.tokens[i]];
      if (mine === theirs) continue;
      const where = `${a.id}, token ${position}`;
      const [logprob, otherLogprob] = [segment.logprobs?.[i], other?.logprobs?.[i]];
      if (mine === undefined || theirs === undefined) return [`${where}: one is longer`];
      if (logprob === undefined || otherLogprob === undefined) {
        return [`${where}: an observation differs, ${mine} and ${theirs}`];
      }
      const noise = noiseAt(a, seed, turn, position);
      const scores = [logprob + noise(mine), otherLogprob + noise(theirs)] as const;
      return [
        `${where}: ${mine} with score ${scores[0]}, and ${theirs} with score ${scores[1]}; ` +
          `margin ${scores[0] - scores[1]}`,
      ];
    }
    if (segment.kind === 'model') turn++;
  }
  return a.segments.length === b.segments.length ? [] : [`${a.id}: one has more segments`];
}

/** The Gumbel number of every token at a position of a trajectory, as rollout and op address it. */
function noiseAt(
  { id, taskId, sampleIndex }: Trajectory,
  seed: number,
  turn: number,
  position: number,
): (token: number) => number {
  const stream = id.slice(0, id.length - `/${taskId}/${sampleIndex}`.length);
  const address = randomAt(seed, 'rollout', stream, taskId, sampleIndex, turn);
  const key = [address.word(), address.word()] as const;
  return (token) => {
    const words = philox4x32([token >> 2, position, 0, 0], key);
    return -Math.log(-Math.log(unitOpen(words[token & 3] as number)));
  };
}
