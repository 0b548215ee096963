/** Code runs on servers of `saccade serve sandbox`. */
import { ConfigError } from '@saccade/core';
import { count, quantity, text, textList } from '@saccade/core/settings';
import { z } from 'zod';
import { openRemoteSandbox } from '../remote/remote-sandbox.ts';
import { defineSandbox } from './sandbox-unit.ts';

export const remote = defineSandbox({
  name: 'remote',
  description: 'Runs code on servers of `saccade serve sandbox`.',
  settings: z.strictObject({
    hosts: textList({ unit: 'URLs', about: 'The servers, e.g. http://10.0.0.5:8710.' }),
    tokenVariable: text({
      default: 'SACCADE_SANDBOX_TOKEN',
      unit: 'name',
      about: 'Environment variable with the servers’ token; no token where it is not set.',
    }),
    maxSessions: count({
      min: 1,
      max: 1_000_000,
      default: 256,
      unit: 'sessions',
      about: 'Sessions open at a time, on all servers together; more wait.',
    }),
    maxQueued: count({
      min: 0,
      max: 10_000_000,
      default: 16_384,
      unit: 'sessions',
      about: 'Sessions that may wait.',
    }),
    checkSeconds: quantity({
      min: 0.1,
      max: 3600,
      default: 5,
      unit: 'seconds',
      about: 'Time between two looks at the health of the servers.',
    }),
    patienceSeconds: quantity({
      min: 0.1,
      max: 86_400,
      default: 60,
      unit: 'seconds',
      about: 'How long to look for a server that takes a session.',
    }),
    lostSeconds: quantity({
      min: 0.1,
      max: 86_400,
      default: 30,
      unit: 'seconds',
      about: 'Silence after which a server’s executions are given up, as faults of the sandbox.',
    }),
    asideSeconds: quantity({
      min: 1,
      max: 86_400,
      default: 60,
      unit: 'seconds',
      about: 'Longest time for which a server whose answers are useless gets no sessions.',
    }),
  }),
  async open({ hosts, tokenVariable, ...limits }, { wallSeconds, onEvent }) {
    if (hosts.length === 0) {
      throw new ConfigError(
        'sandbox.hosts',
        'sandbox.hosts: expected at least one address like http://10.0.0.5:8710, got none.',
      );
    }
    const token = process.env[tokenVariable];
    return await openRemoteSandbox({
      ...{ hosts, wallSeconds, onEvent, ...limits },
      ...(token && { token }),
    });
  },
});
