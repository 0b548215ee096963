/** Pipelines: a paper's way from tasks to training data, with what every step kept. */
import {
  readSettings,
  type SettingsInput,
  type SettingsOf,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';
import type { DialogSample } from '@saccade/data/formats';
import type { SynthesisContext } from './context.ts';
import type { PassRate } from './pass-rate.ts';

/** What one step of a pipeline kept, and why it dropped the rest. */
export interface StepCount {
  readonly step: string;
  readonly given: number;
  readonly kept: number;
  /** Dropped, by reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** A number for the statistics page. */
export interface Fact {
  readonly name: string;
  readonly value: number | string;
}

/** What a pipeline made. */
export interface SynthesisResult {
  /** Examples to train on; none where the pipeline chooses tasks. */
  readonly samples: readonly DialogSample[];
  /** Tasks that were chosen, where the pipeline chooses tasks. */
  readonly taskIds?: readonly string[];
  readonly steps: readonly StepCount[];
  readonly facts: readonly Fact[];
  readonly passRates?: readonly PassRate[];
}

/** A pipeline as a unit: one file, one line in the catalog. */
export interface Pipeline<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly paper: string;
  /** What has to be there besides a teacher. */
  readonly needs: readonly ('weak' | 'judge')[];
  run(settings: SettingsOf<Schema>, context: SynthesisContext): Promise<SynthesisResult>;
}

/** Defines your own pipeline. */
export function definePipeline<const Name extends string, Schema extends SettingsSchema>(
  unit: Pipeline<Schema> & { readonly name: Name },
): Pipeline<Schema> & { readonly name: Name } {
  return unit;
}

/** Runs a pipeline with checked settings. @throws ConfigError naming a setting, or what is missing */
export function runPipeline<Schema extends SettingsSchema>(
  pipeline: Pipeline<Schema>,
  given: SettingsInput<Schema>,
  context: SynthesisContext,
): Promise<SynthesisResult> {
  return pipeline.run(readSettings('pipeline', pipeline.settings, given), context);
}
