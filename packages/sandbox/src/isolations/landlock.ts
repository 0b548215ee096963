/**
 * Landlock and a filter of system calls, without namespaces: for containers that allow none, as
 * Docker's default does. Files, network and signals are closed; other processes stay visible by
 * number, and sessions share one disk.
 */
import { UnsupportedError } from '@saccade/core';
import { type Isolation, serverArguments, sessionEnvironment } from '../isolation.ts';
import { makeOwnScratch } from './own-scratch.ts';

export const landlockIsolation: Isolation = {
  id: 'landlock',
  ownsProcesses: false,
  layers: ['landlock', 'seccomp'],

  async launch(plan) {
    if (process.platform !== 'linux') {
      throw new UnsupportedError(
        `Landlock works on Linux only, this is ${process.platform}. Use a remote sandbox.`,
      );
    }
    const scratch = await makeOwnScratch(plan.hasUsers);
    return {
      command: plan.interpreter.python,
      args: serverArguments(plan),
      env: sessionEnvironment(scratch),
      scratch,
      temporary: scratch,
    };
  },
};
