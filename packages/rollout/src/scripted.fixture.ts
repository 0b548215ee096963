/** A policy and an environment that follow a script, for the tests of this package. */
import { SaccadeError } from '@saccade/core';
import type { Env, EnvStep, MessagePart, Task } from '@saccade/gym';
import type {
  ContentPart,
  ModelImage,
  Policy,
  Processor,
  SampleRequest,
  SampleResult,
} from '@saccade/policy';

const imageToken = 1;
const endOfTurn = 2;

/** One token per character; an image of n bytes takes n tokens. */
export class CharacterProcessor implements Processor {
  readonly endOfTurn = endOfTurn;
  readonly imageToken = imageToken;
  prepared = 0;
  async prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    this.prepared++;
    const tokenCount = encoded.length;
    const patches = new Float32Array(tokenCount);
    return { patches, gridHeight: 1, gridWidth: tokenCount, tokenCount, width: 28, height: 28 };
  }
  encodePrompt(
    user: readonly ContentPart[],
    system = '',
  ): { tokens: Int32Array; images: ModelImage[] } {
    return this.#encode([{ kind: 'text', text: system }, ...user]);
  }
  encodeObservation(
    user: readonly ContentPart[],
    modelEnded: boolean,
  ): { tokens: Int32Array; images: ModelImage[] } {
    return this.#encode([{ kind: 'text', text: modelEnded ? '|' : '$|' }, ...user]);
  }
  encodeContent(parts: readonly ContentPart[]): { tokens: Int32Array; images: ModelImage[] } {
    return this.#encode(parts);
  }
  encodeModelText(text: string, ends: boolean): Int32Array {
    const codes = Array.from(text, (character) => character.charCodeAt(0));
    return Int32Array.from(ends ? [...codes, endOfTurn] : codes);
  }
  decode(tokens: Int32Array): string {
    return Array.from(tokens, (token) => (token > 2 ? String.fromCharCode(token) : '')).join('');
  }
  #encode(parts: readonly ContentPart[]): { tokens: Int32Array; images: ModelImage[] } {
    const images = parts.flatMap((part) => (part.kind === 'image' ? [part.image] : []));
    const tokens = parts.flatMap((part) =>
      part.kind === 'text'
        ? [...this.encodeModelText(part.text, false)]
        : new Array<number>(part.image.tokenCount).fill(imageToken),
    );
    return { tokens: Int32Array.from(tokens), images };
  }
}

/** Says what `say` answers; takes a moment, another one each time. */
export class ScriptedPolicy implements Policy {
  readonly version = 5;
  readonly processor = new CharacterProcessor();
  readonly requests: SampleRequest[] = [];
  readonly released: string[] = [];
  running = 0;
  mostRunning = 0;
  readonly #say: (request: SampleRequest, turn: number) => string | Error;
  readonly #turns = new Map<string, number>();

  constructor(say: (request: SampleRequest, turn: number) => string | Error) {
    this.#say = say;
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    const turn = this.#turns.get(request.conversation) ?? 0;
    this.#turns.set(request.conversation, turn + 1);
    this.requests.push(request);
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    await new Promise((resolve) => setTimeout(resolve, (this.requests.length * 7) % 4));
    this.running--;
    request.signal?.throwIfAborted();
    const said = this.#say(request, turn);
    if (said instanceof Error) throw said;
    const all = this.processor.encodeModelText(said, true);
    const tokens = all.slice(0, request.maxTokens);
    const logprobs = Float32Array.from(tokens, (token) => -1 / (token + 1));
    const finish = tokens.length < all.length ? 'length' : 'endOfTurn';
    const text = this.processor.decode(tokens);
    return { tokens, logprobs, text, finish, policyVersion: this.version };
  }
  release(key: string): void {
    this.released.push(key);
    this.#turns.delete(key);
  }
  async score(): Promise<never> {
    throw new Error('not used');
  }
  async forwardBackward(): Promise<never> {
    throw new Error('not used');
  }
  async optimizerStep(): Promise<never> {
    throw new Error('not used');
  }
  async save(): Promise<void> {}
  async load(): Promise<void> {}
  dispose(): void {}
}

export const shownImage: MessagePart = {
  kind: 'image',
  name: 'image_clue_1',
  png: new Uint8Array(4),
  width: 9,
  height: 9,
};

/** `c` looks and gets an image, `a7` answers 7, `x` breaks; two looks are allowed. */
export class LookEnv implements Env {
  static open = 0;
  isDisposed = false;
  #looks = 0;
  readonly #observation: readonly MessagePart[];
  constructor(observation: readonly MessagePart[] = []) {
    LookEnv.open++;
    this.#observation = observation;
  }
  async reset(task: Task) {
    const images = task.images.map((image) => ({ kind: 'image' as const, ...image }));
    return { user: [{ kind: 'text' as const, text: task.question }, ...images], stop: ['</c>'] };
  }
  async step(modelText: string): Promise<EnvStep> {
    if (modelText.startsWith('a')) {
      return { action: { kind: 'answer', answer: modelText.slice(1) }, stopReason: 'answered' };
    }
    if (modelText.startsWith('x')) throw new SaccadeError('sandbox', 'the fork server died');
    if (modelText.startsWith('y')) throw new TypeError('y is not a function');
    if (!modelText.startsWith('c')) {
      return {
        action: { kind: 'invalid', reason: 'noCodeNorAnswer' },
        stopReason: 'invalidAction',
      };
    }
    const result = { kind: 'ok', stdout: '', stderr: '', imageCount: 0, wallMs: 0 } as const;
    const step = { action: { kind: 'code', code: modelText }, result } as const;
    if (++this.#looks === 3) return { ...step, stopReason: 'turnLimit' };
    const named = this.#observation.map((part) =>
      part.kind === 'image' ? { ...part, name: `image_clue_${this.#looks}` } : part,
    );
    return { ...step, observation: [{ kind: 'text', text: 'seen' }, ...named] };
  }
  async dispose(): Promise<void> {
    this.isDisposed = true;
    LookEnv.open--;
  }
}

export function taskOf(id: string): Task {
  const image = { name: 'image_clue_0', png: new Uint8Array(3), width: 640, height: 480 };
  return { id, question: 'which?', images: [image], answer: '7', metadata: {} };
}
