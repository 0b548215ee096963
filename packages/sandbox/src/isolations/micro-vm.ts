/** placeholder */
import { UnsupportedError } from '@saccade/core';
import type { Isolation } from '../isolation.ts';

export const microVmIsolation: Isolation = {
  id: 'micro-vm',
  kernel: 'separate',
  ownsProcesses: true,
  sessionsPerServer: 1,
  layers: ['namespaces', 'landlock', 'seccomp'],
  async launch() {
    throw new UnsupportedError('not yet');
  },
};
