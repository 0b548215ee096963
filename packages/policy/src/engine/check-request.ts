/** Checks of a request at the engine's door: nothing of it is planned before. */
import { ConfigError, DataError } from '@saccade/core';
import type { LanguageModel } from '../models/language-model.ts';
import type { SampleRequest } from '../policy.ts';
import { expectRange } from '../ranges.ts';
import { checkTruncation } from '../truncation.ts';
import type { EngineSettings } from './engine-settings.ts';
import { PAGE } from './kv-cache.ts';

/** @throws ConfigError or DataError if the request cannot be served */
export function checkRequest(
  request: SampleRequest,
  { maxPositions, vocabSize }: LanguageModel,
  { kvCacheTokens }: EngineSettings,
): void {
  const { tokens, maxTokens, temperature, sharedPrefix } = request;
  if (!Number.isInteger(maxTokens) || maxTokens < 1) {
    throw new ConfigError(
      'maxTokens',
      `maxTokens must be a whole number of at least 1, got ${maxTokens}.`,
    );
  }
  if (!(temperature >= 0 && temperature < Infinity)) {
    throw new ConfigError('temperature', `temperature must be at least 0, got ${temperature}.`);
  }
  checkTruncation(request);
  const length = sharedPrefix?.length ?? 0;
  if (!Number.isInteger(length) || length < 0 || length > tokens.length) {
    throw new ConfigError(
      'sharedPrefix.length',
      `sharedPrefix.length must be 0 to ${tokens.length}, the context's tokens; got ${length}.`,
    );
  }
  if (tokens.length === 0) throw new DataError('A context to continue needs at least one token.');
  if (tokens.length + maxTokens > maxPositions) {
    throw new DataError(
      `A context of ${tokens.length} tokens and ${maxTokens} more exceed the model's ` +
        `${maxPositions} positions. Shorten the context or lower maxTokens.`,
    );
  }
  expectRange('Token', tokens, 0, vocabSize);
  const pages = Math.ceil((tokens.length + maxTokens) / PAGE);
  if (kvCacheTokens > 0 && pages * PAGE > kvCacheTokens) {
    throw new ConfigError(
      'policy.kvCacheTokens',
      `A context of ${tokens.length} tokens and ${maxTokens} more needs ${pages * PAGE} tokens of ` +
        `the cache, which has policy.kvCacheTokens = ${kvCacheTokens}. Raise it, or lower maxTokens.`,
    );
  }
}
