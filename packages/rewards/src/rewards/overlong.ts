/** What the two soft penalties for long responses share. */
import { ConfigError } from '@saccade/core';
import type { Sourced } from '../provenance.ts';

export interface OverlongOptions {
  /** L_max, tokens that the model writes in all its turns. */
  readonly maxTokens: number;
  /** L_cache: the penalty starts this far before. */
  readonly cacheTokens: number;
}

/**
 *   0 up to L_max − L_cache;   (L_max − L_cache − length)/L_cache beyond
 */
export function softOverlong(length: number, { maxTokens, cacheTokens }: OverlongOptions): number {
  return Math.min(0, (maxTokens - cacheTokens - length) / cacheTokens);
}

/** @throws ConfigError for lengths that make no sense */
export function checkOverlong({ maxTokens, cacheTokens }: Sourced<OverlongOptions>): void {
  if (cacheTokens.value > 0 && cacheTokens.value <= maxTokens.value) return;
  throw new ConfigError(
    'cacheTokens',
    `cacheTokens must be from 1 to maxTokens (${maxTokens.value}), got ${cacheTokens.value}.`,
  );
}
