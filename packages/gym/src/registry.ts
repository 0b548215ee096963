/** The task sets and protocols of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Protocol } from './protocol.ts';
import * as protocolCatalog from './protocols/catalog.ts';
import type { TaskSet } from './task.ts';
import * as taskSetCatalog from './tasksets/catalog.ts';

export const taskSets: Registry<TaskSet> = defineRegistry<TaskSet>('task set', taskSetCatalog);
export const protocols: Registry<Protocol> = defineRegistry<Protocol>('protocol', protocolCatalog);
