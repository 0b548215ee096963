import { referenceBackend } from '@saccade/ops';
import { describe, expect, it } from 'vitest';
import { ticksTo } from './linear-chart.ts';
import { describeMemory, drawMemory } from './memory-chart.ts';
import { type MemoryRun, measureMemory } from './memory-steps.ts';

describe('a run that looks at memory', () => {
  it('trains, and says in words and as a chart how memory stood', async () => {
    const lines: string[] = [];
    const onStep = (line: string) => lines.push(line);
    const options = { backend: referenceBackend(), steps: 20, onStep };
    const run = (await measureMemory(options)) as MemoryRun;
    expect(lines).toEqual(['step 10 of 20', 'step 20 of 20']);
    // The tokens that it sampled became more likely: it does train.
    expect(run.logprob[1]).toBeGreaterThan(run.logprob[0]);
    expect(run.series.liveBytes).toHaveLength(20);
    expect(run.drift.liveBytes.verdict).toBe('constant');
    const words = describeMemory(run);
    expect(words).toContainEqual(expect.stringMatching(/^live bytes: 1\.06 MB at every step from/));
    // The float64 oracles do not pool.
    expect(words).toContainEqual('buffers held, pool included: not counted by this backend');
    const chart = drawMemory(run, 'a machine');
    expect(chart).toContain('live bytes: constant');
    expect(chart).not.toContain('NaN');
  });

  it('that is stopped tells of the steps that it took, if they are enough to tell', async () => {
    const stoppedAfter = (count: number) => {
      const stop = new AbortController();
      const backend = referenceBackend();
      const onStep = (line: string): void => {
        if (line === `step ${count} of 40`) stop.abort();
      };
      return measureMemory({ backend, steps: 40, onStep, signal: stop.signal });
    };
    const run = await stoppedAfter(20);
    expect(run?.steps).toBe(20);
    expect(run?.series.liveBytes).toHaveLength(20);
    expect(await stoppedAfter(10)).toBeUndefined();
  });
});

describe('ticksTo', () => {
  it('gives round steps from 0', () => {
    expect(ticksTo(10)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticksTo(214)).toEqual([0, 50, 100, 150, 200]);
    expect(ticksTo(1)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1].map((x) => expect.closeTo(x, 12)));
  });
});
