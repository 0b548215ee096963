import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { expect, it } from 'vitest';
import { hubOf } from './hub.ts';

const cache = (...path: string[]) => join(homedir(), '.cache', 'huggingface', ...path);

it.each<[NodeJS.ProcessEnv, object]>([
  [{}, { cacheDirectory: cache('hub'), endpoint: 'https://huggingface.co', isOffline: false }],
  [{ HF_HOME: '/data/hf' }, { cacheDirectory: '/data/hf/hub' }],
  [{ XDG_CACHE_HOME: '/x' }, { cacheDirectory: '/x/huggingface/hub' }],
  [{ HF_HOME: '/data/hf', HF_HUB_CACHE: '/models' }, { cacheDirectory: '/models' }],
  [{ HF_ENDPOINT: 'http://mirror:8080' }, { endpoint: 'http://mirror:8080' }],
  [{ HF_HUB_OFFLINE: '1' }, { isOffline: true }],
  [{ HF_HUB_OFFLINE: 'True' }, { isOffline: true }],
  [{ HF_HUB_OFFLINE: '0' }, { isOffline: false }],
  [{ HF_TOKEN: 'hf_abc' }, { token: 'hf_abc' }],
])('reads %j as Hugging Face’s libraries do', (environment, expected) => {
  expect(hubOf(environment)).toMatchObject(expected);
});

it.each([{ HF_ENDPOINT: 'mirror' }, { HF_TOKEN: 'abc' }])('refuses %j', (environment) => {
  expect(() => hubOf(environment)).toThrow(ConfigError);
});
