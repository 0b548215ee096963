import { describe, expect, it } from 'vitest';
import { describeLoad, type LoadSource, machineLoad, warningOf } from './machine-load.ts';

/** Two processors over a second: `busy` of 2000 ms for all work, `own` of them of this process. */
function source(busy: number, own: number): LoadSource {
  let reads = 0;
  return {
    cpus() {
      const share = reads++ < 1 ? 0 : 1;
      const times = {
        user: 100 + (share * busy) / 2,
        nice: 0,
        idle: 500 + share * (1000 - busy / 2),
      };
      return [{ times }, { times }];
    },
    cpuUsage: (() => {
      let asked = 0;
      return () => ({ user: asked++ < 1 ? 0 : own * 1000, system: 0 });
    })(),
    loadavg: () => [1.5, 1, 1],
  };
}

describe('the load of a machine', () => {
  it('is the work of others: that of this process is taken off', async () => {
    const load = await machineLoad(source(1000, 400));
    expect(load).toMatchObject({ busyShare: 0.3, processors: 2 });
    expect(describeLoad('before', { ...load, loadAverage: 1.5 })).toBe(
      'load before: 30 % of 2 processors taken by other work, load average 1.50',
    );
    expect(warningOf(load)).toMatch(/^warning: the machine is busy: other work takes 30 % of 2/);
  });

  it('of an idle one is no reason to warn, and never below none', async () => {
    const load = await machineLoad(source(100, 300));
    expect(load.busyShare).toBe(0);
    expect(warningOf(load)).toBeUndefined();
  });

  it('is read from this machine', async () => {
    const { busyShare, processors } = await machineLoad();
    expect(busyShare).toBeGreaterThanOrEqual(0);
    expect(busyShare).toBeLessThanOrEqual(1);
    expect(processors).toBeGreaterThan(0);
  });
});
