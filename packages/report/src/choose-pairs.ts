/** Chooses the held-out tasks to show: changed outcomes first, but never only the good ones. */
import { isScored } from '@saccade/trajectory';
import type { KeptTrajectory, RunRecord } from './read-run.ts';

/** One held-out task before and after training; a side is missing if it was not evaluated. */
export interface TaskPair {
  readonly taskId: string;
  readonly before?: KeptTrajectory;
  readonly after?: KeptTrajectory;
}

export type PairOutcome = 'learned' | 'lost' | 'stillWrong' | 'stillRight' | 'oneSided';

/** In which order the page shows them, and at most how many while others wait. */
const shares: readonly (readonly [PairOutcome, number])[] = [
  ['learned', 0.5],
  ['lost', 0.25],
  ['stillWrong', 0.125],
  ['stillRight', 0.125],
  ['oneSided', 1],
];

export function pairTasks({ before, after }: RunRecord): readonly TaskPair[] {
  const taskIds = new Set([...before.keys(), ...after.keys()]);
  return [...taskIds].sort().map((taskId) => {
    const [first, second] = [before.get(taskId), after.get(taskId)];
    return { taskId, ...(first && { before: first }), ...(second && { after: second }) };
  });
}

/** Whether the answer was right; undefined if nobody judged it. */
export function verdictOf(kept: KeptTrajectory | undefined): boolean | undefined {
  if (kept === undefined || !isScored(kept.trajectory)) return undefined;
  return kept.trajectory.isCorrect;
}

function outcomeOf(pair: TaskPair): PairOutcome {
  const [before, after] = [verdictOf(pair.before), verdictOf(pair.after)];
  if (before === undefined || after === undefined) return 'oneSided';
  if (after) return before ? 'stillRight' : 'learned';
  return before ? 'lost' : 'stillWrong';
}

export function countOutcomes(pairs: readonly TaskPair[]): Readonly<Record<PairOutcome, number>> {
  const counts = { learned: 0, lost: 0, stillWrong: 0, stillRight: 0, oneSided: 0 };
  for (const pair of pairs) counts[outcomeOf(pair)]++;
  return counts;
}

/** At most `limit` pairs: each outcome gets its share first, then what is left in order. */
export function choosePairs(pairs: readonly TaskPair[], limit: number): readonly TaskPair[] {
  const ranked = shares.flatMap(([outcome, share]) =>
    pairs
      .filter((pair) => outcomeOf(pair) === outcome)
      .map((pair, index) => ({ pair, isWithinShare: index < Math.max(1, limit * share) })),
  );
  const first = ranked.filter(({ isWithinShare }) => isWithinShare);
  const rest = ranked.filter(({ isWithinShare }) => !isWithinShare);
  const chosen = new Set([...first, ...rest].slice(0, limit).map(({ pair }) => pair));
  return ranked.map(({ pair }) => pair).filter((pair) => chosen.has(pair));
}
