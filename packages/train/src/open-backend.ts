/** The backends that a run can choose by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import type { BackendUnit } from '@saccade/ops/unit';
import * as catalog from './backends/catalog.ts';

/** The backends that a run can choose by name in the slot `backend`. */
export const backends: Registry<BackendUnit> = defineRegistry<BackendUnit>('backend', catalog);

/** A backend of the catalog, by which the type of a run's slot knows its settings. */
export type KnownBackend = (typeof catalog)[keyof typeof catalog];

/** Opens a device of the backend of that name. @throws ConfigError naming the known backends */
export async function openBackend(name: string, threads?: number): Promise<Device> {
  const unit = backends.get(name);
  const given = threads !== undefined && 'threads' in unit.settings.shape ? { threads } : {};
  return openDevice(await unit.open(unit.settings.parse(given)));
}
