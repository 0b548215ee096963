/** The errors of tool use by the stage of training: after the cold start, windows of steps, the end. */
import { errorKinds, sharesOf, type WrongTrajectory } from '@saccade/eval';
import type { MetricsRow } from '@saccade/run-store';
import { boundaryOf, numberIn, rowsOf } from './curves.ts';

/** The columns of a table of errors: the six kinds, then what nobody decided. */
export const errorColumns = [...errorKinds, 'undecided'] as const;

/** A column of a table of errors. */
export type ErrorColumn = (typeof errorColumns)[number];

/** The errors of the wrong answers of one stage. */
export interface ErrorStage {
  /** `after the cold start`, `steps 1 to 50`, `evaluations, steps 1 to 50`, `final`. */
  readonly name: string;
  /** Share of the answers that are wrong. */
  readonly wrongShare: number;
  /** Answers; absent where only the shares of training steps are known. */
  readonly count?: number;
  /** Shares of the wrong answers; empty where none is wrong. They may sum to more than 1. */
  readonly shares: Readonly<Partial<Record<ErrorColumn, number>>>;
}

/** Where trajectories come from: training rollouts of a step, or an evaluation on held-out tasks. */
interface StagePlace {
  /** `sft`, `step-20`, `final`; absent for training rollouts. */
  readonly label?: string;
  /** Steps of reinforcement learning done. */
  readonly step: number;
}

/** Kept trajectories of one place, with the errors of the wrong ones. */
export interface TaggedSet {
  readonly place: StagePlace;
  readonly count: number;
  readonly wrong: readonly WrongTrajectory[];
}

/** One place with its numbers, before places of one stage are pooled. */
interface Part {
  readonly place: StagePlace;
  /** Answers, or 1 for a step whose number is not known. */
  readonly weight: number;
  readonly isCounted: boolean;
  readonly wrongShare: number;
  readonly shares: ErrorStage['shares'];
}

/**
 * Stages from the metrics of a run, which cover everything that it rolled out.
 *
 *   share = Σ_s wrong_s·share_s / Σ_s wrong_s   over the steps s of a window
 *
 * wrong_s is 1 − accuracy, times the number of tasks in evaluations: steps roll out equally many.
 * Rows without errors of a run that logs none are left out.
 *
 * @param windows into how many windows the steps are divided
 */
export function stagesOfMetrics(
  metrics: readonly MetricsRow[],
  windows: number,
): readonly ErrorStage[] {
  const boundary = boundaryOf(metrics);
  const rollouts = rowsOf(metrics, 'rl').flatMap((row) =>
    partOf(row, '', { step: row.step - boundary }),
  );
  const evaluations = new Map<string, readonly Part[]>();
  for (const row of rowsOf(metrics, 'evaluation')) {
    const label = String(row.label ?? `step-${row.step}`);
    const logged = numberIn(row, 'eval/step_of_rl');
    const step = Number.isFinite(logged) ? logged : Math.max(0, row.step - boundary);
    // One that was done again after a resume counts once.
    evaluations.set(label, partOf(row, 'eval/', { label, step }));
  }
  return poolStages([...rollouts, ...[...evaluations.values()].flat()], windows);
}

/** Stages from trajectories that a run keeps, whose errors are tagged. */
export function stagesOfTagged(sets: readonly TaggedSet[], windows: number): readonly ErrorStage[] {
  const parts = sets
    .filter(({ count }) => count > 0)
    .map(({ place, count, wrong }): Part => {
      const shares = withoutPrefix(sharesOf(wrong), 'errors/');
      return { place, weight: count, isCounted: true, wrongShare: wrong.length / count, shares };
    });
  return poolStages(parts, windows);
}

function partOf(row: MetricsRow, prefix: string, place: StagePlace): readonly Part[] {
  const accuracy = numberIn(row, `${prefix}accuracy`);
  const count = numberIn(row, `${prefix}count`);
  const shares = withoutPrefix(row, `${prefix}errors/`);
  if (!Number.isFinite(accuracy)) return [];
  if (accuracy < 1 && Object.keys(shares).length === 0) return [];
  const isCounted = Number.isFinite(count);
  return [{ place, weight: isCounted ? count : 1, isCounted, wrongShare: 1 - accuracy, shares }];
}

function withoutPrefix(
  row: Readonly<Record<string, unknown>>,
  prefix: string,
): ErrorStage['shares'] {
  return Object.fromEntries(
    errorColumns.flatMap((column) => {
      const share = row[`${prefix}${column}`];
      return typeof share === 'number' ? [[column, share]] : [];
    }),
  );
}

function poolStages(parts: readonly Part[], windows: number): readonly ErrorStage[] {
  const isEnd = ({ place: { label } }: Part): boolean => label === 'sft' || label === 'final';
  const between = parts.filter((part) => !isEnd(part));
  const last = Math.max(...between.map(({ place: { step } }) => Math.max(1, step)), 0);
  const width = Math.max(1, Math.ceil(last / windows));
  const windowed = Array.from({ length: Math.ceil(last / width) }, (_, index) => {
    const [from, to] = [index * width + 1, Math.min(last, (index + 1) * width)];
    // An evaluation before the first step belongs to the first window.
    const inside = between.filter(({ place: { step } }) => Math.max(1, step) >= from && step <= to);
    const steps = from === to ? `step ${from}` : `steps ${from} to ${to}`;
    const ofEvaluations = inside.filter(({ place: { label } }) => label !== undefined);
    return [
      ...pool(
        steps,
        inside.filter(({ place: { label } }) => label === undefined),
      ),
      ...pool(`evaluations, ${steps}`, ofEvaluations),
    ];
  });
  const labelled = (label: string): readonly Part[] =>
    parts.filter(({ place }) => place.label === label);
  return [
    ...pool('after the cold start', labelled('sft')),
    ...windowed.flat(),
    ...pool('final', labelled('final')),
  ];
}

/** One stage of several places; none without a place. */
function pool(name: string, parts: readonly Part[]): readonly ErrorStage[] {
  const total = sum(parts.map(({ weight }) => weight));
  if (total === 0) return [];
  const wrong = sum(parts.map(({ weight, wrongShare }) => weight * wrongShare));
  const shares = errorColumns.flatMap((column) => {
    const found = sum(
      parts.map((part) => part.weight * part.wrongShare * (part.shares[column] ?? 0)),
    );
    return wrong > 0 ? [[column, found / wrong]] : [];
  });
  const isCounted = parts.every((part) => part.isCounted);
  return [
    {
      name,
      wrongShare: wrong / total,
      ...(isCounted && { count: total }),
      shares: Object.fromEntries(shares),
    },
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
