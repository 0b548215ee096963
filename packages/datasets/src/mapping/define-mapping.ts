/** Mappings as units: how the rows of a published data set become tasks. */
import type { MappingInput } from './mapping-schema.ts';

/** The mapping of one published data set. */
export interface MappingUnit {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** Repositories of a hub, or archives, that have these columns. */
  readonly sources: readonly string[];
  /** Where the columns were read: a card, a loading script, an evaluation's code. */
  readonly schemaFrom: string;
  /** Whether `schemaFrom` was read; false where the columns are from descriptions alone. */
  readonly isVerified: boolean;
  readonly declaration: MappingInput;
}

/** Defines a mapping for the catalog. It returns `unit`, with its types inferred. */
export function defineMapping<const Name extends string>(
  unit: MappingUnit & { readonly name: Name },
): MappingUnit & { readonly name: Name } {
  return unit;
}
