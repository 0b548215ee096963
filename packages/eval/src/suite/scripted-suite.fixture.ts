/** A model, an environment and a suite that follow a script, for tests of evaluations. */
import { randomAt } from '@saccade/core';
import type { Env, EnvStep, Task, TaskSet } from '@saccade/gym';
import type { ModelImage, Processor, SampleRequest, SampleResult, Sampler } from '@saccade/policy';
import { exact } from '@saccade/rewards';
import { ModelImages } from '@saccade/rollout';
import type { EvaluatedModel } from '@saccade/run-store';
import { measureDefaults } from '../measure/measure-evaluation.ts';
import { commonSlices } from './define-suite.ts';
import type { EvaluateSuitesOptions } from './evaluate-suites.ts';
import type { OpenSuite } from './open-suite.ts';

const encode = (text: string): Int32Array =>
  Int32Array.from(text, (character) => character.charCodeAt(0));

/** One token per character; an image takes one token. */
const processor: Processor = {
  endOfTurn: 2,
  imageToken: 1,
  async prepareImage(): Promise<ModelImage> {
    const patches = new Float32Array(1);
    return { patches, gridHeight: 1, gridWidth: 1, tokenCount: 1, width: 28, height: 28 };
  },
  encodePrompt: (user) => encodeParts(user),
  encodeObservation: (user) => encodeParts([{ kind: 'text', text: '|' }, ...user]),
  encodeContent: (parts) => encodeParts(parts),
  encodeModelText: (text, ends) => Int32Array.from([...encode(text), ...(ends ? [2] : [])]),
  decode: (tokens) =>
    Array.from(tokens, (token) => (token > 2 ? String.fromCharCode(token) : '')).join(''),
};

function encodeParts(parts: Parameters<Processor['encodeContent']>[0]) {
  const images = parts.flatMap((part) => (part.kind === 'image' ? [part.image] : []));
  const tokens = parts.flatMap((part) => (part.kind === 'text' ? [...encode(part.text)] : [1]));
  return { tokens: Int32Array.from(tokens), images };
}

/** Looks once and then answers: 7 three times in five, by the random address of the request. */
export function luckyWord({ seed, tokens }: SampleRequest): string {
  const hasLooked = processor.decode(tokens).includes('seen');
  if (!hasLooked && randomAt(seed[0], seed[1], 'look').uniform() < 0.5) return 'crop';
  return randomAt(seed[0], seed[1], 'answer').uniform() < 0.6 ? 'a7' : 'a3';
}

/** A sampler that counts its requests. */
export interface ScriptedSampler extends Sampler {
  readonly requests: SampleRequest[];
}

export function scriptedSampler(
  say: (request: SampleRequest) => string | Error = luckyWord,
): ScriptedSampler {
  const requests: SampleRequest[] = [];
  return {
    version: 3,
    processor,
    requests,
    async sample(request): Promise<SampleResult> {
      requests.push(request);
      await new Promise((resolve) => setImmediate(resolve));
      request.signal?.throwIfAborted();
      const said = say(request);
      if (said instanceof Error) throw said;
      const all = processor.encodeModelText(said, true);
      const cut = all.slice(0, request.maxTokens);
      return {
        tokens: cut,
        logprobs: new Float32Array(cut.length).fill(-0.5),
        text: processor.decode(cut),
        finish: cut.length < all.length ? 'length' : 'endOfTurn',
        policyVersion: 3,
      };
    },
    release() {},
  };
}

/** `crop` shows an image, `a7` answers 7, anything else is invalid and goes on. */
class CropEnv implements Env {
  #looks = 0;
  async reset(task: Task) {
    const images = task.images.map((image) => ({ kind: 'image' as const, ...image }));
    return { user: [...images, { kind: 'text' as const, text: task.question }], stop: [] };
  }
  async step(text: string): Promise<EnvStep> {
    if (text.startsWith('a')) {
      return { action: { kind: 'answer', answer: text.slice(1) }, stopReason: 'answered' };
    }
    if (text !== 'crop') {
      return {
        action: { kind: 'invalid', reason: 'noCodeNorAnswer' },
        observation: [{ kind: 'text', text: 'again' }],
      };
    }
    const code = `image_clue_0.crop((0, 0, ${++this.#looks}, 4)).show()`;
    const name = `image_clue_${this.#looks}`;
    const png = Uint8Array.of(9, this.#looks);
    return {
      action: { kind: 'code', code },
      result: { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 },
      observation: [
        { kind: 'text', text: 'seen' },
        { kind: 'image', name, png, width: 4, height: 4 },
      ],
    };
  }
  async dispose(): Promise<void> {}
}

/** Tasks of two difficulties whose answer is 7. */
export function digitTasks(change: (task: Task, index: number) => Task = (task) => task): TaskSet {
  return {
    name: 'digits',
    description: 'Digits.',
    size: () => 1000,
    async task(split, index) {
      const png = Uint8Array.of(1, 2, index);
      return change(
        {
          id: `digits-${split}-${index}`,
          question: 'which digit?',
          images: [{ name: 'image_clue_0', png, width: 64, height: 48 }],
          answer: '7',
          metadata: { difficulty: 1 + (index % 2), requiredTools: ['crop'], box: [0, 0, 4, 4] },
        },
        index,
      );
    },
  };
}

export function scriptedSuite(change: Partial<OpenSuite> = {}): OpenSuite {
  return {
    name: 'digits',
    description: 'Digits.',
    k: 4,
    sampling: {
      ...{ temperature: 1, topK: 0, topP: 1, minP: 0 },
      ...{ maxTurnTokens: 8, maxContextTokens: 200 },
    },
    taskSet: digitTasks(),
    split: 'heldOut',
    taskCount: 6,
    makeEnv: () => new CropEnv(),
    mostTurns: 4,
    scoring: { verifier: exact },
    slices: commonSlices,
    settings: { taskSet: { name: 'digits', seed: 0 }, verifier: { name: 'exact' } },
    dispose: async () => {},
    ...change,
  };
}

export const scriptedModel: EvaluatedModel = {
  ...{ kind: 'weights', label: 'scripted', identity: 'f'.repeat(64), source: 'nowhere' },
};

export function evaluationOf(
  directory: string,
  change: Partial<EvaluateSuitesOptions> = {},
): EvaluateSuitesOptions {
  const sampler = change.sampler ?? scriptedSampler();
  return {
    model: scriptedModel,
    suites: [scriptedSuite()],
    directory,
    seed: 1,
    concurrency: 5,
    retries: 0,
    measure: { ...measureDefaults, resamples: 200 },
    onEvent: () => {},
    ...change,
    sampler,
    images: new ModelImages(sampler.processor),
  };
}
