/** Readers and mappings by name: what opens a source. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { MappingUnit } from './mapping/define-mapping.ts';
import * as mappingCatalog from './mappings/catalog.ts';
import type { Reader } from './reader.ts';
import * as readerCatalog from './readers/catalog.ts';

/** Readers of formats by name. */
export const readers: Registry<Reader> = defineRegistry<Reader>('reader', readerCatalog);
/** Mappings of published data sets by name. */
export const mappings: Registry<MappingUnit> = defineRegistry<MappingUnit>(
  'mapping',
  mappingCatalog,
);
