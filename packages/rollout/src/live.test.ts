/**
 * Every protocol through a real policy and the real sandbox. The policy has random weights: it
 * begins each turn with tokens of its own, and a script ends it in the protocol's words.
 */
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import {
  createToolEnv,
  type MessagePart,
  type Protocol,
  protocols,
  type Task,
  taskSets,
} from '@saccade/gym';
import { type Device, openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  type SampleRequest,
  type SampleResult,
  type Sampler,
  trainTokenizer,
} from '@saccade/policy';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import { type Action, checkTrajectory, isToolUse, type Trajectory } from '@saccade/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelImages } from './model-images.ts';
import { packTrajectories } from './pack.ts';
import { rollout } from './rollout.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const [width, height] = [320, 240];
const photo: Task = {
  id: 'photo',
  question: 'What is written on the sign?',
  images: [{ name: 'image_clue_0', png: coordinateImage(width, height), width, height }],
  answer: 'STOP',
  metadata: {},
};
/** The clip of `card-video`, read frame by frame. */
const film: Task = await taskSets.get('card-video').task('train', 0);

/** Two looks in the words of each protocol, and how many images they bring. */
const code = (text: string): Action => ({ kind: 'code', code: text });
const call = (name: string, given: Readonly<Record<string, unknown>>): Action => {
  return { kind: 'toolCall', name, arguments: given };
};
const pillow = (name: string): readonly Action[] => [
  code(`part = ${name}.crop((40, 30, 140, 100))\npart.show()\nprint(part.size)`),
  code('part.resize((50, 35)).show()'),
];
const scripts: Readonly<Record<string, readonly Action[]>> = {
  'pyvision-image': pillow('image_clue_0'),
  'pyvision-image-short': pillow('image_clue_0'),
  'pyvision-video': [
    code('frame = Image.fromarray(video_clue_0[2].asnumpy())\nframe.show()'),
    code('plt.imshow(frame)\nplt.show()\nprint(len(video_clue_0))'),
  ],
  'pyvision-video-short': [
    code('Image.fromarray(np.hstack(video_clue_0[::24])).show()'),
    code('Image.fromarray(video_clue_0[95]).show()\nprint(video_clue_0.get_avg_fps())'),
  ],
  codedance: [code('part = input_image.crop((40, 30, 140, 100))\npart'), code('part.rotate(45)')],
  codev: [
    code(
      'part = Image.open("image_clue_0.png").crop((40, 30, 140, 100))\npart.save("a.png")\nprint("a.png")',
    ),
    code('part.rotate(45).save("b.png")\nprint("a.png b.png")'),
  ],
  vista: [
    call('image_zoom_in_tool', { bbox_2d: [40, 30, 140, 100], task: 'zoom' }),
    call('image_rotate_tool', { angle: 45, image_index: 1 }),
  ],
  codevision: [
    call('code_image_tool', {
      code: 'result = image.crop((40, 30, 140, 100))',
      description: 'zoom',
      image_index: 0,
    }),
    call('code_image_tool', {
      code: 'result = image.rotate(45)',
      description: 'turn',
      image_index: 1,
    }),
  ],
};

const taskOf = ({ name }: Protocol): Task => (name.startsWith('pyvision-video') ? film : photo);
/** Tokens of its own that the policy begins a turn with. */
const OWN = 4;

let sandbox: LocalSandbox;
let device: Device;
let policy: LocalPolicy;
beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python });
  device = openDevice(nativeBackend({ threads: 1 }));
  const texts = protocols.entries().flatMap(([, protocol]) => {
    const { user, system = '' } = protocol.prompt(taskOf(protocol));
    return [system, ...user.map((part: MessagePart) => (part.kind === 'text' ? part.text : ''))];
  });
  const processor = new QwenProcessor(trainTokenizer(texts, 1024), {
    ...qwenImageProcessor,
    minPixels: 28 * 28,
    maxPixels: 56 * 56,
  });
  const model = qwen2_5_vl.model(nanoConfig(processor.codec.vocabSize, processor.tokens));
  policy = createLocalPolicy({ device, model, processor, seed: 7 });
}, 300_000);
afterAll(async () => {
  policy.dispose();
  device.dispose();
  const { open } = sandbox.stats();
  await sandbox.dispose();
  expect(open).toBe(0);
});

/** Samples the first tokens of a turn, then says what the script has; its log-probs are 0. */
function guided(lines: readonly string[]): Sampler {
  let turn = 0;
  return {
    version: policy.version,
    processor: policy.processor,
    async sample(request: SampleRequest): Promise<SampleResult> {
      const own = await policy.sample({ ...request, maxTokens: OWN });
      const { endOfTurn } = policy.processor;
      const end = own.tokens.indexOf(endOfTurn);
      const kept = end < 0 ? own.tokens.length : end;
      const script = policy.processor.encodeModelText(lines[turn++] ?? '', false);
      const tokens = Int32Array.from([...own.tokens.subarray(0, kept), ...script]);
      const logprobs = new Float32Array(tokens.length);
      logprobs.set(own.logprobs.subarray(0, kept));
      const text = policy.processor.decode(tokens);
      return { tokens, logprobs, text, finish: 'stop', policyVersion: own.policyVersion };
    },
    release: (key: string) => policy.release(key),
  };
}

async function roll(protocol: Protocol, sampler: Sampler): Promise<Trajectory> {
  const env = createToolEnv({ protocol, sandbox });
  try {
    return await rollout(sampler, env, taskOf(protocol), {
      seed: 3,
      maxTokensPerTurn: 16,
      maxContextTokens: 4096,
    });
  } finally {
    await env.dispose();
  }
}

describe.each(protocols.entries())('a live rollout of %s', (name, protocol) => {
  const looks = scripts[name] ?? [];
  const lines = [...looks, { kind: 'answer', answer: 'STOP' } as const].map((action) =>
    protocol.write(action, 'Hm.'),
  );

  it('acts, sees what came of it, and answers; the ledger is what the policy saw', async () => {
    const trajectory = await roll(protocol, guided(lines));
    const { imageToken } = policy.processor;
    checkTrajectory(trajectory, { imageToken });
    expect(trajectory.failure).toBeUndefined();
    expect([trajectory.stopReason, trajectory.turns.length]).toEqual(['answered', 3]);
    for (const { action, result } of trajectory.turns.slice(0, 2)) {
      expect([isToolUse(action), result?.kind, result?.errorMessage]).toEqual([
        true,
        'ok',
        undefined,
      ]);
      expect(result?.imageCount).toBeGreaterThan(0);
    }
    const shown = trajectory.segments.flatMap(({ images }) => images);
    const results = trajectory.turns.reduce(
      (sum, { result }) => sum + (result?.imageCount ?? 0),
      0,
    );
    expect(shown).toHaveLength(taskOf(protocol).images.length + results);
    // Scored in one piece, the policy's own tokens have the log-probs they were sampled with: its
    // context, images included, was token by token what the ledger says.
    const { microBatches } = await packTrajectories([{ trajectory }], {
      images: new ModelImages(policy.processor),
      maxTokens: 8192,
    });
    const sampled = trajectory.segments.flatMap(({ logprobs }) => [...(logprobs ?? [])]);
    let [at, own] = [0, 0];
    for (const { packed } of microBatches) {
      for (const logprob of (await policy.score(packed)).logprobs) {
        const recorded = sampled[at++] ?? Number.NaN;
        if (recorded === 0) continue;
        own++;
        expect(logprob).toBeCloseTo(recorded, 4);
      }
    }
    expect(at).toBe(sampled.length);
    expect(own).toBeGreaterThan(2);
    // The same seed gives the same tokens and the same images.
    const again = await roll(protocol, guided(lines));
    expect(again.segments).toEqual(trajectory.segments);
  });

  it('ends without a failure, whatever random weights say', async () => {
    const trajectory = await roll(protocol, policy);
    checkTrajectory(trajectory, { imageToken: policy.processor.imageToken });
    expect(trajectory.failure).toBeUndefined();
    expect(trajectory.stopReason).not.toBe('answered');
  });
});
