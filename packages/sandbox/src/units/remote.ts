/** Code runs on servers of `saccade serve sandbox`. */
import { ConfigError } from '@saccade/core';
import { text, textList } from '@saccade/core/settings';
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
  }),
  async open({ hosts, tokenVariable }, { wallSeconds }) {
    if (hosts.length === 0) {
      throw new ConfigError(
        'sandbox.hosts',
        'sandbox.hosts: expected at least one address like http://10.0.0.5:8710, got none.',
      );
    }
    const token = process.env[tokenVariable];
    return await openRemoteSandbox({ hosts, wallSeconds, ...(token && { token }) });
  },
});
