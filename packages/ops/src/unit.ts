/** A backend as a run can choose it by name, with settings of its own. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import { z } from 'zod';
import type { Backend } from './backend.ts';
import { referenceBackend } from './reference-backend.ts';

export interface BackendUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** @throws MissingError or UnsupportedError naming what this machine lacks */
  open(settings: SettingsOf<Schema>): Backend | Promise<Backend>;
}

/** A backend of one's own, for catalogs and recipes. */
export function defineBackend<const Name extends string, Schema extends SettingsSchema>(
  unit: BackendUnit<Schema> & { readonly name: Name },
): BackendUnit<Schema> & { readonly name: Name } {
  return unit;
}

export const reference = defineBackend({
  name: 'reference',
  description: 'The float64 oracles in TypeScript: slow, exact, everywhere.',
  settings: z.strictObject({}),
  open: () => referenceBackend(),
});
