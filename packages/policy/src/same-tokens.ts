/** Whether token ids of two processors mean the same. */
import { ConfigError } from '@saccade/core';
import type { CheckpointProcessor } from './processor/checkpoint-processor.ts';

type Tokenized = Pick<CheckpointProcessor, 'tokenizerJson'>;

/** @throws ConfigError if a reference has other tokens: then its log-probs say nothing */
export function expectSameTokens(directory: string, own: Tokenized, other: Tokenized): void {
  if (JSON.stringify(own.tokenizerJson) === JSON.stringify(other.tokenizerJson)) return;
  throw new ConfigError(
    'rl.reference',
    `rl.reference: the policy in ${directory} has another tokenizer than the one that is trained. ` +
      'Take one of the same model and protocol.',
  );
}
