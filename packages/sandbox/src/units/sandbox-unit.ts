/** A sandbox as a run can choose it by name, with settings of its own. */
import type { EventSink } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Sandbox } from '../session.ts';

/** The parts of a run that a sandbox gets. */
export interface SandboxContext {
  /** The interpreter; asked for only where code runs on this machine. */
  python(): Promise<string>;
  /** Wall time of one execution, the protocol's. */
  readonly wallSeconds: number;
  /** Sessions that may be open at a time. */
  readonly sessions: number;
  readonly onEvent: EventSink;
}

/** A sandbox that a run can choose by name. */
export interface SandboxUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** @throws SandboxError, MissingError or RequirementError if no sandbox can be had */
  open(settings: SettingsOf<Schema>, context: SandboxContext): Promise<Sandbox>;
}

/** Defines your own sandbox, for catalogs and recipes. */
export function defineSandbox<const Name extends string, Schema extends SettingsSchema>(
  unit: SandboxUnit<Schema> & { readonly name: Name },
): SandboxUnit<Schema> & { readonly name: Name } {
  return unit;
}
