import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { treeProcessorSeconds } from './process-tree.ts';

it.runIf(process.platform === 'linux')(
  'counts a process, its children, and those that have ended',
  async () => {
    const burn =
      'end=$(( $(date +%s%N) + 300000000 )); while [ $(date +%s%N) -lt $end ]; do :; done';
    // The inner shell ends before it is looked at; the outer one waits for us.
    const child = spawn('sh', ['-c', `sh -c '${burn}'; echo done; read line`]);
    await once(child.stdout, 'data');
    const seconds = treeProcessorSeconds([child.pid ?? 0]) ?? 0;
    child.stdin.end('\n');
    await once(child, 'close');
    expect(seconds).toBeGreaterThan(0.02);
    expect(seconds).toBeLessThan(1);
    expect(treeProcessorSeconds([])).toBe(0);
  },
);
