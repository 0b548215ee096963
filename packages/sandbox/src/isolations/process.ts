/** Ordinary processes: limits of time, memory and output, but the host's files and network. */
import { type Isolation, serverArguments, sessionEnvironment } from '../isolation.ts';
import { makeOwnScratch } from './own-scratch.ts';

export const processIsolation: Isolation = {
  id: 'process',
  ownsProcesses: false,
  layers: ['seccomp'],
  warning:
    'The sandbox runs without isolation (tier "process"): code can read files that its user can ' +
    'read and can reach the network. Install bubblewrap to isolate it.',

  async launch(plan) {
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
