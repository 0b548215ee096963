/** A cold start: the examples that a policy begins with, before reinforcement learning. */
import { ConfigError, type EventSink } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import { handOf, type Protocol, type StepKind, type TaskSet } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import type { MakeEnv, ModelImages } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';

/** Examples of one kind, and how many of them go into an update. */
export interface Mixture {
  readonly kind: string;
  readonly examples: readonly Trajectory[];
  readonly perUpdate: number;
}

/** The context that a run gives a cold start. */
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

/**
 * A unit that makes the examples of the supervised stage. It also names what they require of a
 * run: the steps the protocol must be able to write, the number of tool turns, and the tasks that
 * reinforcement learning must not use again. `checkColdStart` compares these with the protocol
 * before any work.
 */
export interface ColdStart<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /**
   * Steps that its demonstrations do, which the protocol must be able to express. Default: none.
   */
  steps?(settings: SettingsOf<Schema>): readonly StepKind[];
  /** Names of typed tools that its demonstrations call, which the protocol must offer. Default: none. */
  calls?(settings: SettingsOf<Schema>): readonly string[];
  /** Tool turns that its longest demonstration needs at least. Default: 0. */
  leastToolTurns?(settings: SettingsOf<Schema>): number;
  /** Texts to train a small policy's tokenizer on. */
  corpus(protocol: Protocol): readonly string[];
  /** Tasks at the front of the training split that `gather` shows; reinforcement learning skips them. */
  taskCount(settings: SettingsOf<Schema>): number;
  /** The examples; the same for every run of the same settings and seed. */
  gather(settings: SettingsOf<Schema>, context: ColdStartContext): Promise<readonly Mixture[]>;
}

/** Defines your own cold start, for catalogs and recipes. */
export function defineColdStart<const Name extends string, Schema extends SettingsSchema>(
  unit: ColdStart<Schema> & { readonly name: Name },
): ColdStart<Schema> & { readonly name: Name } {
  return unit;
}

/**
 * Checks that a cold start can be shown in a protocol, before any work.
 *
 * @throws ConfigError naming the cold start, the protocol and what does not fit
 */
export function checkColdStart<Schema extends SettingsSchema>(
  unit: Pick<ColdStart<Schema>, 'name' | 'steps' | 'calls' | 'leastToolTurns'>,
  settings: SettingsOf<Schema>,
  protocol: Pick<Protocol, 'name' | 'hand' | 'budgets' | 'tools'>,
): void {
  const steps = unit.steps?.(settings) ?? [];
  if (steps.length > 0) handOf(protocol, steps, `the cold start ${unit.name}`);
  checkCalls(unit.name, unit.calls?.(settings) ?? [], protocol);
  const least = unit.leastToolTurns?.(settings) ?? 0;
  const { toolTurns } = protocol.budgets;
  if (toolTurns >= least) return;
  throw new ConfigError(
    'protocol.toolTurns',
    `protocol.toolTurns: the cold start ${unit.name} demonstrates ${least} steps before an answer, ` +
      `and the protocol ${protocol.name} allows ${toolTurns}. Raise protocol.toolTurns.`,
  );
}

function checkCalls(
  unit: string,
  calls: readonly string[],
  { name, tools }: Pick<Protocol, 'name' | 'tools'>,
): void {
  // Of a service's tools nothing is known until it is asked.
  if (tools?.length === 0) return;
  const offered = (tools ?? []).map((tool) => tool.name);
  const missing = calls.filter((call) => !offered.includes(call));
  if (missing.length === 0) return;
  throw new ConfigError(
    'tools',
    `tools: the cold start ${unit} demonstrates ${missing.join(', ')}, and the protocol ${name} offers ` +
      `${offered.join(', ') || 'no tools'}. Name them in tools, or choose another cold start.`,
  );
}
