/** Backends as units: choices of a run by name, with settings. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import { z } from 'zod';
import type { Backend } from './backend.ts';
import { referenceBackend } from './reference-backend.ts';

/** How a backend is opened, whatever its settings; results have the same bits. */
export interface OpenBackendOptions {
  /** Asks for launches that have run when `dispatch` returns, to take their times. Default false. */
  readonly blocking?: boolean;
}

/**
 * A backend that a run chooses by name, with its own settings. Opening it finds the device;
 * defining it touches no hardware.
 */
export interface BackendUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /**
   * A backend that cannot do what the options ask is opened without.
   *
   * @throws MissingError or UnsupportedError naming what this machine lacks
   */
  open(settings: SettingsOf<Schema>, options?: OpenBackendOptions): Backend | Promise<Backend>;
}

/** Defines a backend for a catalog or a recipe. It returns `unit`, with its types inferred. */
export function defineBackend<const Name extends string, Schema extends SettingsSchema>(
  unit: BackendUnit<Schema> & { readonly name: Name },
): BackendUnit<Schema> & { readonly name: Name } {
  return unit;
}

/**
 * The unit of `referenceBackend`: each op's float64 oracle in TypeScript, one thread, in any
 * runtime.
 */
export const reference = defineBackend({
  name: 'reference',
  description: 'The float64 oracles in TypeScript: slow, exact, everywhere.',
  settings: z.strictObject({}),
  open: () => referenceBackend(),
});
