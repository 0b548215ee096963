/** The task sets and protocols of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { ProtocolUnit } from './define-protocol.ts';
import type { TaskSetUnit } from './define-task-set.ts';
import * as protocolCatalog from './protocols/catalog.ts';
import * as taskSetCatalog from './tasksets/catalog.ts';

/** Task sets by name. */
export const taskSets: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>(
  'task set',
  taskSetCatalog,
);
/** Protocols by name. */
export const protocols: Registry<ProtocolUnit> = defineRegistry<ProtocolUnit>(
  'protocol',
  protocolCatalog,
);

/** The units of this package, with the literal types of their names and settings. */
export type KnownTaskSet = (typeof taskSetCatalog)[keyof typeof taskSetCatalog];
/** A protocol unit of this package, with the literal types of its name and settings. */
export type KnownProtocol = (typeof protocolCatalog)[keyof typeof protocolCatalog];
