/**
 * One example of CodeVision's loop (arXiv:2512.03746, §3.2.1): the teacher is told what is still to do,
 * takes a step, the step runs, what it shows is compared with the canonical image, and the step is kept,
 * asked for again, or the example is discarded.
 */
import type { Random } from '@saccade/core';
import type { Env, MessagePart, Protocol, Task } from '@saccade/gym';
import type { ModelImage, Sampler } from '@saccade/policy';
import { encodeMessage, ModelImages } from '@saccade/rollout';
import type { Message, ToolResult } from '@saccade/trajectory';
import { type Box, CanonicalFrame } from './canonical.ts';
import { type Mistake, mistakenInTurn } from './inject-error.ts';

/** One thing that is still to do. */
export interface Goal {
  /** What the teacher is told to do next, and what comes after. */
  readonly hint: string;
  /** Why the image that a step showed does not do it; undefined if it does. */
  misses(shown: Shown): string | undefined | Promise<string | undefined>;
}

/** What a step showed. */
export interface Shown {
  readonly frame: CanonicalFrame;
  readonly image: Extract<MessagePart, { kind: 'image' }>;
  readonly box?: Box;
  readonly isUpright: boolean;
}

/** How an example is made. */
export interface GuideOptions {
  readonly sampler: Sampler;
  readonly protocol: Protocol;
  readonly makeEnv: () => Env | Promise<Env>;
  readonly goals: readonly Goal[];
  /** Index of the goal whose first try is got wrong on purpose; undefined: none is. */
  readonly errorAt?: number;
  /** Times that a step, or the answer, is asked for again. */
  readonly corrections: number;
  readonly random: Random;
  readonly temperature: number;
  readonly maxTurnTokens: number;
  readonly isRight: (answer: string) => boolean;
  readonly signal?: AbortSignal;
}

/** An example, or why there is none. */
export type Guided = {
  /** Steps that were asked for again. */
  readonly corrected: number;
} & (
  | {
      readonly kind: 'kept';
      readonly messages: readonly Message[];
      readonly answer: string;
      readonly mistake?: Mistake;
      /** Index of the turn that was got wrong on purpose. */
      readonly mistakeTurn?: number;
    }
  | { readonly kind: 'discarded'; readonly reason: string }
);

/** Leaves the loop; never seen outside of this file. */
class Discarded {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

interface Taken {
  readonly text: string;
  readonly ends: boolean;
  readonly observation: readonly MessagePart[];
  readonly result?: ToolResult;
}

/** Makes one example of a task. The hints are the teacher's alone: the example does not have them. */
export async function guidedPlay(task: Task, options: GuideOptions): Promise<Guided> {
  const play = new GuidedPlay(task, options);
  try {
    return await play.run();
  } catch (error) {
    if (!(error instanceof Discarded)) throw error;
    return { kind: 'discarded', reason: error.reason, corrected: play.corrected };
  } finally {
    await play.dispose();
  }
}

class GuidedPlay {
  corrected = 0;
  readonly #task: Task;
  readonly #options: GuideOptions;
  readonly #images: ModelImages;
  readonly #taken: Taken[] = [];
  #env: Env | undefined;
  #prompt: readonly MessagePart[] = [];
  #system: string | undefined;
  #frame: CanonicalFrame;
  #mistake: Mistake | undefined;
  #mistakeTurn: number | undefined;
  #requests = 0;

  constructor(task: Task, options: GuideOptions) {
    this.#task = task;
    this.#options = options;
    this.#images = new ModelImages(options.sampler.processor);
    this.#frame = new CanonicalFrame(task, []);
  }

  async run(): Promise<Guided> {
    const { goals, corrections, errorAt, isRight, protocol } = this.#options;
    await this.#restart();
    for (const [index, goal] of goals.entries()) {
      let note = `${goal.hint} Do only this step now.`;
      let mustFail = index === errorAt;
      for (let left = corrections; ; left--) {
        const text = await this.#ask(note);
        const step = mustFail ? await this.#stumble(text) : await this.#step(text);
        if (mustFail && step.miss === undefined) {
          mustFail = false;
          left++;
          note = 'That failed. Read the error, put it right, and do the step.';
          continue;
        }
        const miss = step.miss ?? (await this.#check(goal, step.taken));
        if (miss === undefined) break;
        if (left <= 0) throw new Discarded(miss);
        this.corrected++;
        note = `${goal.hint} Your last try is not kept, because it ${miss}. Do this step again.`;
        await this.#undo(step.taken);
      }
    }
    for (let left = corrections, note = 'Now give the answer.'; ; left--) {
      const text = await this.#ask(`${note} The answer is ${this.#task.answer}.`);
      const action = protocol.parse(text);
      const isAnswer = action.kind === 'answer';
      if (isAnswer && isRight(action.answer)) return this.#kept(text, action.answer);
      const reason = isAnswer ? 'wrong answer' : 'no answer when one was due';
      if (left <= 0) throw new Discarded(reason);
      this.corrected++;
      note = 'Your last try is not kept. Give the answer, and nothing else.';
    }
  }

  async dispose(): Promise<void> {
    await this.#env?.dispose();
    this.#env = undefined;
  }

  #kept(text: string, answer: string): Guided {
    const messages: Message[] = [
      ...(this.#system === undefined ? [] : [{ role: 'system' as const, content: this.#system }]),
      { role: 'user', content: this.#prompt.map(messagePart) },
      ...this.#taken.flatMap(({ text: said, observation, result }): Message[] => [
        { role: 'assistant', content: said },
        { role: 'user', content: observation.map(messagePart), ...(result && { result }) },
      ]),
      { role: 'assistant', content: text },
    ];
    return {
      ...{ kind: 'kept', messages, answer, corrected: this.corrected },
      ...(this.#mistake && { mistake: this.#mistake }),
      ...(this.#mistakeTurn !== undefined && { mistakeTurn: this.#mistakeTurn }),
    };
  }

  /** The environment again, brought to where the kept steps lead. */
  async #restart(): Promise<void> {
    await this.dispose();
    this.#env = await this.#options.makeEnv();
    const { user, system } = await this.#env.reset(this.#task);
    this.#prompt = user;
    this.#system = system;
    this.#frame = new CanonicalFrame(this.#task, user);
    for (const { text, observation } of this.#taken) {
      await this.#env.step(text);
      for (const part of observation) if (part.kind === 'image') this.#frame.place(part);
    }
  }

  /** Takes a step back: the environment must not remember it either. */
  async #undo(taken: Taken | undefined): Promise<void> {
    if (taken !== undefined) this.#taken.pop();
    await this.#restart();
  }

  async #step(text: string): Promise<{ readonly taken?: Taken; readonly miss?: string }> {
    const { action, result, observation, stopReason } = await (this.#env as Env).step(text);
    if (observation === undefined) {
      return { miss: action.kind === 'answer' ? 'answers too early' : `ended as ${stopReason}` };
    }
    const ends = !this.#options.protocol.stop.some((stop) => text.endsWith(stop));
    const taken = { text, ends, observation, ...(result && { result }) };
    this.#taken.push(taken);
    if (action.kind === 'invalid') return { taken, miss: `cannot be read: ${action.reason}` };
    return result?.kind === 'ok' ? { taken } : { taken, miss: `fails with ${result?.kind}` };
  }

  /** Does a step wrong until the environment says so; the error is real. */
  async #stumble(text: string): Promise<{ readonly taken?: Taken; readonly miss?: string }> {
    const { protocol, random } = this.#options;
    const action = protocol.parse(text);
    if (action.kind !== 'code' && action.kind !== 'toolCall') return { miss: 'uses no tool' };
    const thought = /<think>([\s\S]*?)<\/think>/.exec(text)?.[1] ?? '';
    for (const { mistake, action: wrong } of mistakenInTurn(action, random)) {
      const { taken, miss } = await this.#step(protocol.write(wrong, thought));
      if (taken?.result !== undefined && taken.result.kind !== 'ok') {
        this.#mistake = mistake;
        this.#mistakeTurn = this.#taken.length - 1;
        return {};
      }
      if (miss !== undefined && taken === undefined) throw new Discarded('errors end a trajectory');
      await this.#undo(taken);
    }
    throw new Discarded('no mistake in this step is an error');
  }

  async #check(goal: Goal, taken: Taken | undefined): Promise<string | undefined> {
    const image = taken?.observation.findLast((part) => part.kind === 'image');
    if (image === undefined) return 'shows no image';
    const { box, isUpright } = this.#frame.place(image);
    return await goal.misses({ frame: this.#frame, image, isUpright, ...(box && { box }) });
  }

  /** The teacher's next turn, for a context that ends with a note to it. */
  async #ask(note: string): Promise<string> {
    const { sampler, protocol, temperature, maxTurnTokens, random, signal } = this.#options;
    const { processor } = sampler;
    const tokens: number[] = [];
    const images: ModelImage[] = [];
    const told: MessagePart = { kind: 'text', text: `\n\n[Note to the writer: ${note}]` };
    const add = (message: {
      readonly tokens: Int32Array;
      readonly modelImages: readonly ModelImage[];
    }) => {
      for (const token of message.tokens) tokens.push(token);
      images.push(...message.modelImages);
    };
    const noted = (parts: readonly MessagePart[], isLast: boolean) =>
      isLast ? [...parts, told] : parts;
    const count = this.#taken.length;
    add(
      await encodeMessage(noted(this.#prompt, count === 0), this.#images, processor, (content) =>
        processor.encodePrompt(content, this.#system),
      ),
    );
    for (const [index, { text, ends, observation }] of this.#taken.entries()) {
      for (const token of processor.encodeModelText(text, ends)) tokens.push(token);
      const parts = noted(observation, index === count - 1);
      add(
        await encodeMessage(parts, this.#images, processor, (content) =>
          processor.encodeObservation(content, ends),
        ),
      );
    }
    const { text } = await sampler.sample({
      ...{ tokens: Int32Array.from(tokens), images, maxTokens: maxTurnTokens, stop: protocol.stop },
      ...{ temperature, seed: [random.word(), random.word()] as const },
      conversation: `guided/${this.#task.id}/${this.#requests++}`,
      ...(signal && { signal }),
    });
    return text;
  }
}

function messagePart(part: MessagePart) {
  if (part.kind === 'text') return { type: 'text' as const, text: part.text };
  const { name, png, origin } = part;
  return { type: 'image' as const, image: png, name, ...(origin && { origin }) };
}
