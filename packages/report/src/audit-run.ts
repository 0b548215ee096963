/** The audit of a run, from what its directory holds: stored trajectories and metrics. */
import {
  type Audited,
  type AuditedStep,
  type AuditReport,
  type AuditSettings,
  auditRewards,
  type ContextOptions,
  type Detector,
  detectors,
  detectorsWith,
  exact,
  makeContext,
  type RewardTerm,
  type StepCorrelation,
  stepCorrelations,
} from '@saccade/rewards';
import { describeDamage, type MetricsRow, readMetrics } from '@saccade/run-store';
import { boundaryOf, evaluationsOf, numberIn, rowsOf } from './curves.ts';
import { readStoredRun, type StoredGroup, type StoredRun, type StoredSet } from './stored-run.ts';

/**
 * The result of `auditRun`: what the detectors found in the trajectories that a run kept, and how
 * its reward terms correlate with accuracy over its metrics.
 */
export interface RunAudit {
  readonly directory: string;
  /** Names of the files that were read. */
  readonly files: readonly string[];
  readonly report: AuditReport;
  readonly detectors: readonly Detector[];
  /** Groups as they were audited, for pages that show examples. */
  readonly groups: readonly (readonly Audited[])[];
  /** Share that each step flagged of everything it rolled out, by detector; absent if not logged. */
  readonly steps: Readonly<
    Record<string, readonly { readonly step: number; readonly share: number }[]>
  >;
  /** Correlation of every term's mean with the accuracy of the same training step. */
  readonly overSteps: Readonly<Record<string, StepCorrelation>>;
  /** Correlation of every term's mean with held-out accuracy, evaluated after a training step. */
  readonly overEvaluations: Readonly<Record<string, StepCorrelation>>;
  /** One sentence for each thing that could not be used. */
  readonly gaps: readonly string[];
}

/** The parts of a run to audit, with the terms and thresholds. */
export interface AuditRunOptions {
  /** Names of trajectory files without `.jsonl`; default: all steps, else all evaluations. */
  readonly only?: readonly string[];
  /** The terms of the run's reward; without them all terms are expected to vary. */
  readonly terms?: readonly RewardTerm[];
  /** Thresholds by detector. */
  readonly thresholds?: AuditSettings;
  /** How the run's code was followed. */
  readonly analysis?: ContextOptions['analysis'];
}

/**
 * Audits a run.
 *
 * @throws DataError if there is no run, or it keeps no trajectories
 * @throws ConfigError for a detector or threshold that is not known
 */
export async function auditRun(
  directory: string,
  { only, thresholds = {}, terms, analysis }: AuditRunOptions = {},
): Promise<RunAudit> {
  const chosen = detectorsWith(thresholds);
  const stored = await readStoredRun(directory, only);
  const gaps = [...stored.gaps];
  const metrics = readRows(directory, gaps);
  const groups = auditedGroups(stored, analysis);
  const steps = stepsOf(metrics);
  const report = auditRewards({ groups, steps, ...(terms && { terms }) }, chosen);
  return {
    directory,
    files: stored.sets.map(({ name }) => name),
    report,
    detectors: chosen,
    groups,
    steps: sharesOf(metrics),
    overSteps: stepCorrelations(
      rowsOf(metrics, 'rl').map((row) => ({
        accuracy: numberIn(row, 'accuracy'),
        terms: termMeans(row),
      })),
    ),
    overEvaluations: stepCorrelations(evaluatedSteps(metrics)),
    gaps,
  };
}

/** The groups of stored trajectories as audits take them. */
function auditedGroups(
  { sets }: Pick<StoredRun, 'sets'>,
  analysis: ContextOptions['analysis'],
): readonly (readonly Audited[])[] {
  // Evaluations repeat their tasks: only with the file's name are their ids different.
  const isUnique = sets.length === 1 || sets.every(({ step }) => step !== undefined);
  return sets.flatMap(({ name, groups }: StoredSet) =>
    groups.map((group) => auditedOf(group, isUnique ? '' : `${name}: `, analysis)),
  );
}

function auditedOf(
  { trajectories, task }: StoredGroup,
  prefix: string,
  analysis: ContextOptions['analysis'],
): readonly Audited[] {
  const options = { verifier: exact, ...(analysis && { analysis }) };
  return trajectories.map((stored) => {
    const trajectory = { ...stored, id: `${prefix}${stored.id}` };
    const { isCorrect } = trajectory;
    // Its verdict stands: nothing is judged again.
    const verdict = { isCorrect, score: isCorrect ? 1 : 0 };
    return { trajectory, context: makeContext(trajectory, task, options, { verdict }) };
  });
}

function readRows(directory: string, gaps: string[]): readonly MetricsRow[] {
  const { value, damage } = readMetrics(directory);
  gaps.push(...damage.map(describeDamage));
  if (value.rows.length === 0) gaps.push('metrics.jsonl has no rows: nothing is said over steps.');
  return value.rows;
}

const TERM = /^rewards\/(.+)\/mean$/;

function termMeans(row: MetricsRow): Readonly<Record<string, number>> {
  const means: Record<string, number> = {};
  for (const [name, value] of Object.entries(row)) {
    const term = TERM.exec(name)?.[1];
    if (term !== undefined && typeof value === 'number') means[term] = value;
  }
  return means;
}

function stepsOf(metrics: readonly MetricsRow[]): readonly AuditedStep[] {
  return rowsOf(metrics, 'rl').map((row) => ({
    step: row.step,
    meanLength: numberIn(row, 'completions/mean_length'),
    accuracy: numberIn(row, 'accuracy'),
  }));
}

/** Held-out accuracy beside the terms of the training step that came before it. */
function evaluatedSteps(metrics: readonly MetricsRow[]) {
  const boundary = boundaryOf(metrics);
  const byStep = new Map(rowsOf(metrics, 'rl').map((row) => [row.step - boundary, row]));
  return evaluationsOf(metrics).flatMap(({ step, accuracy }) => {
    const row = byStep.get(step);
    return row === undefined ? [] : [{ accuracy, terms: termMeans(row) }];
  });
}

function sharesOf(metrics: readonly MetricsRow[]): RunAudit['steps'] {
  const boundary = boundaryOf(metrics);
  const shares: Record<string, { step: number; share: number }[]> = {};
  for (const row of rowsOf(metrics, 'rl')) {
    for (const name of detectors.names) {
      const share = numberIn(row, `audit/${name}`);
      if (!Number.isFinite(share)) continue;
      const own = shares[name] ?? [];
      own.push({ step: row.step - boundary, share });
      shares[name] = own;
    }
  }
  return shares;
}
