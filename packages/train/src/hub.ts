/** The Hugging Face hub that the environment names, by the variables of Hugging Face's libraries. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import type { Hub } from '@saccade/hub';

const ENDPOINT = 'https://huggingface.co';
const TRUE = new Set(['1', 'on', 'true', 'yes']);

/**
 * The hub of `HF_ENDPOINT`, with the cache of `HF_HUB_CACHE` or `HF_HOME`, and the token of
 * `HF_TOKEN`; `HF_HUB_OFFLINE=1` leaves it unasked.
 *
 * @throws ConfigError  if a variable holds no such value
 */
export function hubOf(environment: NodeJS.ProcessEnv): Hub {
  const set = (name: string) => environment[name] || undefined;
  const home =
    set('HF_HOME') ?? join(set('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'huggingface');
  const endpoint = set('HF_ENDPOINT') ?? ENDPOINT;
  if (!URL.canParse(endpoint)) {
    throw new ConfigError(
      'HF_ENDPOINT',
      `HF_ENDPOINT: expected a URL, got ${JSON.stringify(endpoint)}.`,
    );
  }
  const token = set('HF_TOKEN');
  if (token !== undefined && !token.startsWith('hf_')) {
    throw new ConfigError('HF_TOKEN', 'HF_TOKEN: expected a token, which starts with hf_.');
  }
  return {
    cacheDirectory: set('HF_HUB_CACHE') ?? join(home, 'hub'),
    endpoint,
    isOffline: TRUE.has((environment.HF_HUB_OFFLINE ?? '').toLowerCase()),
    ...(token !== undefined && { token }),
  };
}
