/** Asks a judge's model, remembers the grade, and turns every failure into a RewardError. */
import type { ChatModel } from '@saccade/chat';
import { messageOf } from '@saccade/core';
import { type Judge, type JudgeLimits, judgeLimits } from './judge.ts';
import { gradeIn } from './judges/fence.ts';
import { RewardError } from './score.ts';

/** Grades by content hash. */
export interface GradeCache {
  get(key: string): Promise<number | undefined>;
  set(key: string, grade: number): Promise<void>;
}

/** Options of `askWith`: where grades are kept, and how the model is sampled. */
export interface AskOptions {
  readonly cache?: GradeCache;
  /** Default 0: a grade is a fact, not a draw. */
  readonly temperature?: number;
  /** Longest reply, tokens. Default 512. */
  readonly maxTokens?: number;
  /** Replies without a grade before the judge has failed. Default 2. */
  readonly unreadableReplies?: number;
  /** How much the judge is shown. Default `judgeLimits`. */
  readonly limits?: JudgeLimits;
  readonly signal?: AbortSignal;
}

/** The grade of one input. @throws RewardError if the judge failed; that is never a grade */
export type Ask<Input> = (input: Input) => Promise<number>;

/** A judge with its model. Equal questions under way at the same time are asked once. */
export function askWith<Input>(
  judge: Judge<Input>,
  model: ChatModel,
  options: AskOptions = {},
): Ask<Input> {
  const { cache = memoryCache(), temperature = 0, maxTokens = 512 } = options;
  const underWay = new Map<string, Promise<number>>();
  const { signal, unreadableReplies = 2, limits = judgeLimits } = options;
  const chat = { temperature, maxTokens, ...(signal && { signal }) };
  const grade = async (input: Input, key: string): Promise<number> => {
    const known = await cache.get(key);
    if (known !== undefined && judge.grades.includes(known)) return known;
    for (let tries = 1; ; tries++) {
      const boundary = randomBoundary();
      const reply = await model.reply(judge.ask(input, boundary, limits), chat);
      const read = gradeIn(reply, boundary, judge.grades);
      if (read !== undefined) {
        await cache.set(key, read);
        return read;
      }
      if (tries >= unreadableReplies) {
        throw new RewardError(
          `${judge.name}: ${model.name} gave no grade in ${tries} replies, the last ` +
            `${JSON.stringify(reply.slice(-120))}. Use a model that follows the form, or raise maxTokens.`,
        );
      }
    }
  };
  return async (input) => {
    try {
      const key = await keyOf({ judge, model, temperature, limits }, input);
      const running = underWay.get(key);
      if (running !== undefined) return await running;
      const started = grade(input, key);
      underWay.set(key, started);
      return await started.finally(() => underWay.delete(key));
    } catch (error) {
      if (error instanceof RewardError) throw error;
      throw new RewardError(`${judge.name} failed: ${messageOf(error)}`, { cause: error });
    }
  };
}

/** Grades of this process, the oldest forgotten first. */
export function memoryCache(maxEntries = 100_000): GradeCache {
  const grades = new Map<string, number>();
  return {
    get: async (key) => grades.get(key),
    async set(key, grade) {
      if (grades.size >= maxEntries) {
        const [oldest] = grades.keys();
        if (oldest !== undefined) grades.delete(oldest);
      }
      grades.set(key, grade);
    },
  };
}

/** 128 random bits as letters. */
function randomBoundary(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** SHA-256 of all that a grade depends on: the instructions too, so that new ones ask again. */
async function keyOf<Input>(
  {
    judge,
    model,
    temperature,
    limits,
  }: {
    readonly judge: Judge<Input>;
    readonly model: ChatModel;
    readonly temperature: number;
    readonly limits: JudgeLimits;
  },
  input: Input,
): Promise<string> {
  const encoder = new TextEncoder();
  const [system] = judge.ask(input, '', limits);
  const instructions = JSON.stringify(system?.parts);
  const shown = judge.keyOf(input, limits);
  const { textCharacters } = limits;
  const parts = [judge.name, model.name, temperature, instructions, ...shown];
  // Grades that were given at the published limit keep their keys.
  if (textCharacters !== judgeLimits.textCharacters) parts.push(textCharacters);
  const digests: number[] = [];
  for (const part of parts) {
    const bytes = part instanceof Uint8Array ? part : encoder.encode(JSON.stringify(part));
    digests.push(...new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))));
  }
  const whole = await crypto.subtle.digest('SHA-256', Uint8Array.from(digests));
  return Array.from(new Uint8Array(whole), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
