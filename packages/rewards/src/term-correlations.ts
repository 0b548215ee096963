/** How a reward's terms go with accuracy: within a batch, and over the steps of a run. */
import { type AuditInput, allAudited } from './audit.ts';
import { pearson, spearman } from './correlation.ts';

/**
 * Point-biserial correlation of every term with the verdict, over the trajectories of a batch.
 *
 * @returns by the term's name, −1 to 1; a term is absent where it or the verdict does not vary
 */
export function batchCorrelations(input: AuditInput): Readonly<Record<string, number>> {
  const all = allAudited(input).map(({ trajectory }) => trajectory);
  const isRight = all.map(({ isCorrect }) => (isCorrect ? 1 : 0));
  const names = new Set(all.flatMap(({ rewardTerms }) => Object.keys(rewardTerms)));
  const known: Record<string, number> = {};
  for (const name of names) {
    const values = all.map(({ rewardTerms }) => rewardTerms[name] ?? 0);
    const r = pearson(values, isRight);
    if (r !== undefined) known[name] = r;
  }
  return known;
}

/** Means of a step, or of an evaluation. */
export interface TermMeans {
  /** Accuracy to compare with, e.g. of held-out tasks; 0 to 1. */
  readonly accuracy: number;
  /** Mean of every term, by its name. */
  readonly terms: Readonly<Record<string, number>>;
}

/** How the mean of a term moves with accuracy over the steps of a run. */
export interface StepCorrelation {
  /** Pearson's correlation, −1 to 1. */
  readonly correlation: number;
  /** Spearman's, which a few large steps do not decide; −1 to 1. */
  readonly rankCorrelation: number;
  /** Steps compared. */
  readonly count: number;
}

/**
 * Correlation of every term's mean with accuracy over steps or evaluations.
 *
 * @returns by the term's name; absent with fewer than three steps, where two always lie on a line,
 *   and where one side does not vary
 */
export function stepCorrelations(
  steps: readonly TermMeans[],
): Readonly<Record<string, StepCorrelation>> {
  const names = new Set(steps.flatMap(({ terms }) => Object.keys(terms)));
  const known: Record<string, StepCorrelation> = {};
  for (const name of names) {
    const having = steps.filter(({ terms }) => Number.isFinite(terms[name]));
    if (having.length < 3) continue;
    const values = having.map(({ terms }) => terms[name] as number);
    const accuracies = having.map(({ accuracy }) => accuracy);
    const correlation = pearson(values, accuracies);
    const rankCorrelation = spearman(values, accuracies);
    if (correlation === undefined || rankCorrelation === undefined) continue;
    known[name] = { correlation, rankCorrelation, count: having.length };
  }
  return known;
}
