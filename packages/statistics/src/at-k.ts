/** How good k samples of a task are, estimated without bias from n ≥ k samples. */
import { expectCount } from './arguments.ts';
import { hypergeometric } from './binomial.ts';

/**
 * The chance that at least one of k samples is right, where c of n samples were.
 *
 *   pass@k = 1 − C(n−c, k) / C(n, k) = 1 − Π_{i = n−c+1}^{n} (1 − k/i)
 *
 * Unbiased; Chen et al. 2021, arXiv:2107.03374, eq. 1.
 *
 * @param n samples of the task
 * @param c right ones, 0 … n
 * @param k samples that a user would draw, 1 … n
 * @throws ConfigError for a number out of its range
 */
export function passAtK(n: number, c: number, k: number): number {
  expectCount('n', n, 1);
  expectCount('c', c, 0, n);
  expectCount('k', k, 1, n);
  if (n - c < k) return 1;
  let none = 1;
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}

/** One sample of a task as a vote. */
export interface Vote {
  /** The answer in the form in which equal answers are equal; undefined votes for nothing. */
  readonly answer: string | undefined;
  /** The answer's score, 0 … 1. */
  readonly score: number;
}

/**
 * The expected score of the answer that most of k samples give (self-consistency, Wang et al. 2022,
 * arXiv:2203.11171), over all C(n, k) choices of k among n samples. A tie is broken by a fair draw
 * among the answers that tie. Where no chosen sample has an answer, the score is 0.
 *
 * Exact and unbiased, without drawing: for each answer and each count j of it, a sum over the ways in
 * which the other answers stay below j or tie with it.
 *
 * @param votes [n] in any order; where samples of one answer differ in score, it has their mean
 * @param k     1 … n
 * @throws ConfigError for k out of its range
 */
export function majorityAtK(votes: readonly Vote[], k: number): number {
  expectCount('k', k, 1, votes.length);
  const answers = new Map<string, { count: number; total: number }>();
  for (const { answer, score } of votes) {
    if (answer === undefined) continue;
    const { count, total } = answers.get(answer) ?? { count: 0, total: 0 };
    answers.set(answer, { count: count + 1, total: total + score });
  }
  const all = [...answers.values()];
  const silent = votes.length - all.reduce((sum, { count }) => sum + count, 0);
  return all.reduce((expected, { count, total }, index) => {
    if (total === 0) return expected;
    const rivals = all.filter((_, other) => other !== index).map((other) => other.count);
    return expected + (total / count) * winningChance(count, rivals, silent, k);
  }, 0);
}

/** The chance that an answer with `own` samples wins the vote of k samples. */
function winningChance(own: number, rivals: readonly number[], silent: number, k: number): number {
  const total = rivals.reduce((sum, count) => sum + count, own + silent);
  let chance = 0;
  for (let j = 1; j <= Math.min(own, k); j++) {
    const drawn = hypergeometric(j, total, own, k);
    if (drawn > 0) chance += drawn * shareOfTies(j, rivals, silent, k - j);
  }
  return chance;
}

/**
 * E[1 / (1 + ties)] where no rival has more than j of the `left` samples that are drawn from rivals
 * and silent samples, and 0 where one has. `ties` counts the rivals with exactly j.
 */
function shareOfTies(j: number, rivals: readonly number[], silent: number, left: number): number {
  // chances[t][r]: t rivals tie so far, and r samples are still to be drawn from those that follow.
  let chances: number[][] = [Array.from({ length: left + 1 }, (_, r) => (r === left ? 1 : 0))];
  let rest = rivals.reduce((sum, count) => sum + count, silent);
  for (const count of rivals) {
    const next: number[][] = Array.from({ length: chances.length + 1 }, () =>
      new Array<number>(left + 1).fill(0),
    );
    for (const [ties, row] of chances.entries()) {
      for (const [r, chance] of row.entries()) {
        if (chance === 0) continue;
        for (let hits = 0; hits <= Math.min(count, j, r); hits++) {
          const target = next[hits === j ? ties + 1 : ties] as number[];
          target[r - hits] =
            (target[r - hits] as number) + chance * hypergeometric(hits, rest, count, r);
        }
      }
    }
    chances = next;
    rest -= count;
  }
  // What is left comes from silent samples.
  return chances.reduce(
    (sum, row, ties) =>
      sum + row.reduce((own, chance, r) => own + (r <= silent ? chance : 0), 0) / (1 + ties),
    0,
  );
}
