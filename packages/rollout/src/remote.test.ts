/**
 * Rollouts through an engine behind HTTP, in the real sandbox, beside those of the policy itself.
 */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ServerType, serve } from '@hono/node-server';
import { nativeBackend } from '@saccade/backend-native';
import { createToolEnv, protocols, type Task } from '@saccade/gym';
import { type Device, openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  type Sampler,
  trainTokenizer,
} from '@saccade/policy';
import { openRemotePolicy } from '@saccade/policy/remote';
import { policyService } from '@saccade/policy/serve';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import type { Trajectory } from '@saccade/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replay } from './replay.ts';
import { runRollouts } from './runner.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const [width, height] = [160, 120];
const tasks: readonly Task[] = ['a', 'b'].map((id) => ({
  id,
  question: 'What is written on the sign?',
  images: [{ name: 'image_clue_0', png: coordinateImage(width, height), width, height }],
  answer: 'STOP',
  metadata: {},
}));
const protocol = protocols.get('pyvision-image-short');
const looks = [
  protocol.write({ kind: 'code', code: 'image_clue_0.crop((40, 30, 100, 70)).show()' }, 'Hm.'),
  protocol.write({ kind: 'answer', answer: 'STOP' }, 'So.'),
];

let sandbox: LocalSandbox;
let device: Device;
let policy: LocalPolicy;
beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python });
  device = openDevice(nativeBackend({ threads: 1 }));
  const images = { ...qwenImageProcessor, minPixels: 28 * 28, maxPixels: 56 * 56 };
  const processor = new QwenProcessor(trainTokenizer(looks, 400), images);
  const model = qwen2_5_vl.model(nanoConfig(processor.codec.vocabSize, processor.tokens));
  policy = createLocalPolicy({ device, model, processor, seed: 7 });
}, 300_000);
afterAll(async () => {
  policy.dispose();
  device.dispose();
  await sandbox.dispose();
});

/** Says a few tokens of its own, then what the script has: random weights write no code. */
function guided(inner: Sampler): Sampler {
  const turns = new Map<string, number>();
  return {
    version: inner.version,
    processor: inner.processor,
    async sample(request) {
      const own = await inner.sample({ ...request, maxTokens: 5 });
      const turn = turns.get(request.conversation) ?? 0;
      turns.set(request.conversation, turn + 1);
      const end = own.tokens.indexOf(inner.processor.endOfTurn);
      const kept = own.tokens.subarray(0, end < 0 ? own.tokens.length : end);
      const script = inner.processor.encodeModelText(looks[turn] ?? '', false);
      const tokens = Int32Array.from([...kept, ...script]);
      const logprobs = new Float32Array(tokens.length);
      logprobs.set(own.logprobs.subarray(0, kept.length));
      return { ...own, tokens, logprobs, text: inner.processor.decode(tokens), finish: 'stop' };
    },
    release: (key) => inner.release(key),
  };
}

const options = {
  groupSize: 3,
  seed: 5,
  stream: 'train/0',
  maxTokensPerTurn: 64,
  maxContextTokens: 600,
  retries: 0,
};
const makeEnv = () => createToolEnv({ protocol, sandbox });

async function roll(sampler: Sampler): Promise<readonly Trajectory[]> {
  const { groups } = await runRollouts(sampler, makeEnv, tasks, options);
  return groups.flatMap(({ trajectories }) => trajectories);
}

async function listen(speaks: 'vllm' | 'sglang') {
  const { fetch } = policyService({ policy, speaks });
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch, hostname: '127.0.0.1', port: 0 }, () => resolve(started));
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  const baseUrl = `http://127.0.0.1:${port}`;
  const remote = await openRemotePolicy({ baseUrl, processor: policy.processor, retries: 0 });
  return { remote, close };
}

/** Without what a clock measured. */
function timeless(trajectory: Trajectory): Trajectory {
  const turns = trajectory.turns.map(({ result, ...turn }) => ({
    ...turn,
    ...(result && { result: { ...result, wallMs: 0 } }),
  }));
  return { ...trajectory, turns };
}

describe.each(['vllm', 'sglang'] as const)(
  'rollouts through an engine that speaks %s',
  (speaks) => {
    it('are those of the policy itself, looks and images included, and can be replayed here', async () => {
      const { remote, close } = await listen(speaks);
      try {
        const here = await roll(guided(policy));
        const there = await roll(guided(remote));
        expect(there.map(timeless)).toEqual(here.map(timeless));
        expect(there.map(({ stopReason }) => stopReason)).toEqual(Array(6).fill('answered'));
        // The crop came back as an image and went to the engine with the next turn.
        for (const { segments } of there) expect(segments[2]?.images).toHaveLength(1);
        const free = (await roll(remote)).map(timeless);
        expect(free).toEqual((await roll(policy)).map(timeless));
        for (const trajectory of there.slice(0, 2)) {
          const { groupSize: _, stream: __, retries: ___, ...sampling } = options;
          const again = { ...sampling, stop: protocol.stop };
          expect((await replay(guided(policy), trajectory, again)).isExact).toBe(true);
        }
      } finally {
        await close();
      }
    }, 120_000);

    it('fail at the policy’s boundary where the engine dies, and nothing is made up', async () => {
      const { remote, close } = await listen(speaks);
      let asked = 0;
      const dying: Sampler = {
        version: 0,
        processor: remote.processor,
        async sample(request) {
          if (++asked === 8) await close();
          return await guided(remote).sample(request);
        },
        release: () => {},
      };
      const result = await runRollouts(dying, makeEnv, tasks, options);
      const failed = result.groups
        .flatMap(({ trajectories }) => trajectories)
        .filter(({ failure }) => failure !== undefined);
      expect(failed.length).toBeGreaterThan(0);
      expect(result.failures).toEqual({ policy: failed.length });
      for (const { stopReason, failure } of failed) {
        expect(stopReason).toBe('failed');
        expect(failure?.message).toMatch(/broke off|cannot be reached/);
      }
    }, 120_000);
  },
);
