/** The environment: a question about an image, tools to look closer, budgets, an answer. */
import { StateError } from '@saccade/core';
import type { Env, EnvReset, EnvStep, MessagePart, Task } from '@saccade/gym';
import type { ToolResult } from '@saccade/trajectory';
import { type Box, cutOut, decodePng, encodePng, type PixelImage } from '../task/pixel-image.ts';
import { parseToolCall, readTurn, stopStrings, ToolError } from './tool-call.ts';
import { lookOf, tools } from './tools.ts';

export interface Budgets {
  /** Calls allowed, those that fail included; the answer comes on top. */
  readonly toolCalls: number;
}

/** An environment for one trajectory at a time. */
export function createLookingEnv(budgets: Budgets): Env {
  return new LookingEnv(budgets);
}

/** The user turn that opens a trajectory. */
export function promptOf(task: Task): readonly MessagePart[] {
  const images = task.images.flatMap((image): MessagePart[] => [
    { kind: 'text', text: `${image.name}: ` },
    { kind: 'image', ...image },
  ]);
  const signatures = tools.map(({ name, signature }) => `${name}(${signature})`).join(', ');
  return [...images, { kind: 'text', text: `\nTools: ${signatures}. ${task.question}` }];
}

/** The text that the model sees of a failed call. */
export function errorText(error: ToolError): string {
  return `${error.type}: ${error.message}`;
}

class LookingEnv implements Env {
  readonly #budgets: Budgets;
  #task: Task | undefined;
  #calls = 0;
  #imageCount = 0;

  constructor(budgets: Budgets) {
    this.#budgets = budgets;
  }

  async reset(task: Task): Promise<EnvReset> {
    this.#task = task;
    this.#calls = 0;
    this.#imageCount = task.images.length;
    return { user: promptOf(task), stop: stopStrings };
  }

  async step(modelText: string): Promise<EnvStep> {
    const task = this.#task;
    if (task === undefined) throw new StateError('step() before reset(). Call reset(task).');
    const turn = readTurn(modelText);
    if (turn.kind === 'answer') {
      return { action: { kind: 'answer', answer: turn.answer }, stopReason: 'answered' };
    }
    if (turn.kind === 'neither') {
      const action = { kind: 'invalid', reason: 'noCallNorAnswer' } as const;
      return { action, stopReason: 'invalidAction' };
    }
    // The ledger keeps the call as it was written, since it may be no sound JSON.
    const action = { kind: 'code', code: turn.json } as const;
    const { result, observation } = this.#call(task, turn.json);
    this.#calls++;
    return this.#calls > this.#budgets.toolCalls
      ? { action, result, stopReason: 'turnLimit' }
      : { action, result, observation };
  }

  async dispose(): Promise<void> {
    this.#task = undefined;
  }

  /** Runs a call; one that cannot be run is answered with its error. */
  #call(task: Task, json: string): { result: ToolResult; observation: readonly MessagePart[] } {
    const start = performance.now();
    const done = { stdout: '', stderr: '' };
    try {
      const [source] = task.images;
      if (source === undefined) throw new StateError('The task has no image. Give it one.');
      const box = lookOf(parseToolCall(json), source);
      const name = `image_${this.#imageCount++}`;
      const observation: MessagePart[] = [
        { kind: 'text', text: `${name}: ` },
        {
          kind: 'image',
          name,
          png: cropOf(source.png, box),
          width: box[2] - box[0],
          height: box[3] - box[1],
          origin: { image: source.name, map: [1, 0, box[0], 0, 1, box[1]] },
        },
      ];
      const wallMs = performance.now() - start;
      return { result: { kind: 'ok', ...done, imageCount: 1, wallMs }, observation };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const result: ToolResult = {
        kind: 'exception',
        ...done,
        errorType: error.type,
        errorMessage: error.message,
        imageCount: 0,
        wallMs: performance.now() - start,
      };
      return { result, observation: [{ kind: 'text', text: errorText(error) }] };
    }
  }
}

/** An image's pixels and the crops made of it: in a group many look at the same place. */
interface Decoded {
  readonly image: PixelImage;
  readonly crops: Map<string, Uint8Array>;
}

const decoded = new WeakMap<Uint8Array, Decoded>();

/** PNG bytes of a box; the same array for the same box for as long as the image is held. */
function cropOf(png: Uint8Array, box: Box): Uint8Array {
  let source = decoded.get(png);
  if (source === undefined) {
    source = { image: decodePng(png), crops: new Map() };
    decoded.set(png, source);
  }
  const key = box.join();
  let crop = source.crops.get(key);
  if (crop === undefined) {
    crop = encodePng(cutOut(source.image, box));
    source.crops.set(key, crop);
  }
  return crop;
}
