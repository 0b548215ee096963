/**
 * An experiment: runs that share a cold start and differ in a few settings, and the curves that show
 * what the difference does.
 */

/** A cold start that parts share. */
interface ExperimentStart {
  readonly name: string;
  readonly recipe: string;
  /** `field=value`, as for `--set`. */
  readonly settings: readonly string[];
}

/** One run of a part. */
export interface ExperimentVariant {
  readonly label: string;
  /** How it differs from the others, in one sentence. */
  readonly about: string;
  /** `field=value`, as for `--set`; fields of `rl` and `rollout` only. */
  readonly settings: readonly string[];
}

/** A metric over steps of reinforcement learning, a curve per variant. */
export interface ExperimentCurve {
  /** Its name in `metrics.jsonl`. */
  readonly metric: string;
  readonly title: string;
  /** Describes what it counts, and over what. */
  readonly about: string;
  readonly unit: 'share' | 'number';
  /** The horizontal axis: steps, or the seconds they took without evaluations. Default `steps`. */
  readonly over?: 'steps' | 'seconds';
}

/** A metric of evaluations that a table shows after training. */
export interface ExperimentOutcome {
  /** Its name in rows of evaluations. */
  readonly metric: string;
  readonly title: string;
  readonly unit: 'share' | 'number';
}

/** Variants that are compared with one another. */
export interface ExperimentPart {
  /** Kebab-case: the folder of its runs. */
  readonly name: string;
  readonly title: string;
  /** The question, and what would answer it. */
  readonly about: string;
  /** Name of the cold start; or `part/variant`, a run of an earlier part that these continue. */
  readonly from: string;
  readonly recipe: string;
  readonly settings: readonly string[];
  readonly variants: readonly ExperimentVariant[];
  readonly curves: readonly ExperimentCurve[];
  /** Columns of a table of the last evaluations, the cold start’s beside them. Default none. */
  readonly outcomes?: readonly ExperimentOutcome[];
}

/** Two metrics of the last evaluation of every run against each other: what is gained for what it takes. */
export interface ExperimentTradeOff {
  readonly title: string;
  readonly about: string;
  /** Its name in rows of evaluations. */
  readonly cost: string;
  readonly costLabel: string;
  /** A share of the evaluated tasks. */
  readonly gain: string;
}

export interface Experiment {
  readonly name: string;
  readonly title: string;
  /** One sentence for people. */
  readonly description: string;
  readonly coldStarts: readonly ExperimentStart[];
  readonly parts: readonly ExperimentPart[];
  /** Drawn before the parts, a curve a part, a dot a run. */
  readonly tradeOff?: ExperimentTradeOff;
}
