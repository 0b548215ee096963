/** A cold start: the examples that a policy begins with, before reinforcement learning. */
import type { EventSink } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Protocol, TaskSet } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import type { MakeEnv, ModelImages } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';

/** Examples of one kind, and how many of them go into an update. */
export interface Mixture {
  readonly kind: string;
  readonly examples: readonly Trajectory[];
  readonly perUpdate: number;
}

/** What a run gives a cold start. */
export interface ColdStartContext {
  readonly taskSet: TaskSet;
  readonly protocol: Protocol;
  readonly makeEnv: MakeEnv;
  readonly images: ModelImages;
  readonly processor: Processor;
  readonly seed: number;
  /** Trajectories that may run at a time. */
  readonly concurrency: number;
  readonly onEvent: EventSink;
}

export interface ColdStart<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** Texts to train a small policy's tokenizer on. */
  corpus(protocol: Protocol): readonly string[];
  /** Tasks at the front of the training split that `gather` shows; reinforcement learning skips them. */
  taskCount(settings: SettingsOf<Schema>): number;
  /** The examples; the same for every run of the same settings and seed. */
  gather(settings: SettingsOf<Schema>, context: ColdStartContext): Promise<readonly Mixture[]>;
}

/** A cold start of one's own, for catalogs and recipes. */
export function defineColdStart<const Name extends string, Schema extends SettingsSchema>(
  unit: ColdStart<Schema> & { readonly name: Name },
): ColdStart<Schema> & { readonly name: Name } {
  return unit;
}
