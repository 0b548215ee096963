/** A recipe is names and numbers: which parts a run is made of and their values. */
import type { PartialConfig } from './config.ts';

export interface Recipe {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** The system it follows, with its citation. */
  readonly paper: string;
  readonly config: PartialConfig;
}
