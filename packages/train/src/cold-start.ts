/** A cold start: what a policy's words are made of, and the examples it begins with. */
import type { EventSink } from '@saccade/core';
import type { Protocol } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import type { Trajectory } from '@saccade/trajectory';
import type { RunConfig } from './config.ts';
import type { Parts } from './parts.ts';

/** Examples by kind, and how many of each go into an update. */
export interface Mixture {
  readonly kind: string;
  readonly examples: readonly Trajectory[];
  readonly perUpdate: number;
}

export interface GatherOptions extends Pick<Parts, 'taskSet' | 'makeEnv' | 'images' | 'protocol'> {
  readonly config: RunConfig;
  readonly processor: Processor;
  readonly onEvent: EventSink;
}

export interface ColdStart {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** Texts to train the nano policy's tokenizer on. */
  corpus(protocol: Protocol): readonly string[];
  /** The examples; the same for every run of a configuration. */
  gather(options: GatherOptions): Promise<readonly Mixture[]>;
}
