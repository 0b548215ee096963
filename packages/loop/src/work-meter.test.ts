import type { Sampler } from '@saccade/policy';
import { expect, it } from 'vitest';
import { meteredSampler } from './metered.ts';
import { WorkMeter } from './work-meter.ts';

it('gives sums and means since it was last asked, and nothing of what did not happen', async () => {
  const work = new WorkMeter();
  expect(work.take()).toEqual({});
  work.add('open', 2);
  work.add('open', 4);
  work.add('execute', 0.5, 0.125);
  work.add('publish', 1);
  work.add('publish', 2);
  expect(work.take()).toEqual({
    'time/publish': 3,
    'throughput/sessions': 2,
    'time/session_open': 3,
    'throughput/executions': 1,
    'time/execution': 0.5,
    'time/execution_processor': 0.125,
  });
  expect(work.take()).toEqual({});
});

it('does not count work that fails', async () => {
  const work = new WorkMeter();
  const failing = work.timed('open', () => Promise.reject(new Error('no server')));
  await expect(failing).rejects.toThrow('no server');
  expect(work.take()).toEqual({});
});

it('counts what a phase uses, of the sandbox where that is known', () => {
  let seconds = 1;
  let sandbox: number | undefined;
  const usage = () => ({
    mainThread: seconds,
    processors: 2 * seconds,
    ...(sandbox !== undefined && { sandbox }),
  });
  const work = new WorkMeter(usage);
  const end = work.phase('learn');
  seconds = 4;
  expect(end()).toEqual({ 'time/main_thread/learn': 3, 'time/processors/learn': 6 });
  sandbox = 5;
  const endRollout = work.phase('rollout');
  sandbox = 7;
  expect(endRollout()['time/sandbox_processors/rollout']).toBe(2);
  expect(new WorkMeter().phase('learn')()).toEqual({});
});

it('counts the requests of a sampler, which stays what it is otherwise', async () => {
  const work = new WorkMeter();
  const released: string[] = [];
  let version = 3;
  const sampler = {
    get version() {
      return version;
    },
    release: (key: string) => released.push(key),
    sample: async () => ({ tokens: Int32Array.of(7) }),
  } as unknown as Sampler;
  const metered = meteredSampler({ sampler, work });
  const { tokens } = await metered.sample({} as never);
  metered.release('a');
  version = 4;
  expect([...tokens]).toEqual([7]);
  expect(released).toEqual(['a']);
  expect(metered.version).toBe(4);
  expect(work.take()['throughput/requests']).toBe(1);
  expect(meteredSampler({ sampler })).toBe(sampler);
});
