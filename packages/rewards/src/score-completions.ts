/** Rewards of completions that somebody else sampled: text, or chat messages with images. */
import { ConfigError, messageOf } from '@saccade/core';
import {
  type FromMessagesOptions,
  type Group,
  type Message,
  type ScoredTrajectory,
  type Trajectory,
  trajectoryFromMessages,
} from '@saccade/trajectory';
import type { ScoringTask } from './context.ts';
import { presetTerms } from './registry.ts';
import { answerIn } from './response.ts';
import type { Verifier } from './reward.ts';
import { type Scoring, scoreGroup } from './score.ts';
import { exact } from './verifiers/exact.ts';

/** What was asked, what came, and what is right; lists of one length, as TRL passes them. */
export interface Completions {
  /** The question, as text or messages. The completions of equal prompts are one group. */
  readonly prompts: readonly (string | readonly Message[])[];
  /** What came of it: text, or messages from the first of the assistant's on. */
  readonly completions: readonly (string | readonly Message[])[];
  /** The right answer, or the whole task with its `metadata`. */
  readonly answers: readonly (string | ScoringTask)[];
}

/** Options of `scoreCompletions`. */
export interface CompletionOptions extends Pick<FromMessagesOptions, 'parse' | 'encode'> {
  /** Name of a preset, e.g. `pyvision`, or terms and a verifier of your own. */
  readonly reward: string | Scoring;
  /** Compares answers for a preset. Default `exact`. */
  readonly verifier?: Verifier;
}

/** The reward of a completion, or why it has none. */
export type CompletionScore =
  | { readonly reward: number; readonly trajectory: ScoredTrajectory }
  | { readonly reward: undefined; readonly message: string };

/**
 * The rewards of completions, in their order.
 *
 * Without `parse`, the text without calls at the end is the answer, read as `answerIn` does: the
 * content of `<answer>`, of `\boxed{}`, or the last line. Pass the `parse` of a protocol to see code
 * and calls that are written in the text.
 *
 * A completion that cannot be read or scored has no reward but a message; the others keep theirs.
 *
 * @throws ConfigError if the lists differ in length, or the reward is unknown
 */
export function scoreCompletions(
  { prompts, completions, answers }: Completions,
  options: CompletionOptions,
): readonly CompletionScore[] {
  for (const [name, { length }] of [['prompts', prompts] as const, ['answers', answers] as const]) {
    if (length === completions.length) continue;
    throw new ConfigError(
      name,
      `There are ${completions.length} completions and ${length} ${name}. Pass one for each.`,
    );
  }
  const { reward, verifier = exact, parse, encode } = options;
  const scoring = typeof reward === 'string' ? { verifier, terms: presetTerms(reward) } : reward;
  const reading = { ...(parse && { parse }), ...(encode && { encode }) };
  const scores: CompletionScore[] = completions.map(() => ({ reward: undefined, message: '' }));
  groupsOf(prompts, answers).forEach((members, groupIndex) => {
    const taskId = `task-${groupIndex}`;
    const indexOf = new Map<string, number>();
    const trajectories: Trajectory[] = [];
    members.forEach((index, sampleIndex) => {
      try {
        const identity = { ...reading, taskId, sampleIndex };
        const own = readCompletion(prompts[index] ?? '', completions[index] ?? '', identity);
        indexOf.set(own.id, index);
        trajectories.push(own);
      } catch (error) {
        const message = `completions[${index}]: ${messageOf(error)}`;
        scores[index] = { reward: undefined, message };
      }
    });
    const task = taskOf(answers[members[0] ?? 0] ?? '');
    const group: Group = { taskId, trajectories };
    const { scored, failed } = scoreGroup(group, task, scoring);
    for (const trajectory of scored.trajectories) {
      scores[indexOf.get(trajectory.id) ?? 0] = { reward: trajectory.reward, trajectory };
    }
    for (const { id, failure } of failed) {
      scores[indexOf.get(id) ?? 0] = { reward: undefined, message: failure?.message ?? '' };
    }
  });
  return scores;
}

function readCompletion(
  prompt: string | readonly Message[],
  completion: string | readonly Message[],
  options: FromMessagesOptions,
): Trajectory {
  const asked: readonly Message[] =
    typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
  const said: readonly Message[] =
    typeof completion === 'string' ? [{ role: 'assistant', content: completion }] : completion;
  return trajectoryFromMessages([...asked, ...said], {
    parse: (text) => {
      const answer = answerIn(text);
      return answer === undefined
        ? { kind: 'invalid', reason: 'noAnswer' }
        : { kind: 'answer', answer };
    },
    ...options,
    promptMessages: asked.length,
  });
}

const taskOf = (answer: string | ScoringTask): ScoringTask =>
  typeof answer === 'string' ? { answer, metadata: {} } : answer;

/** Indices of completions whose prompts and answers are equal, by first occurrence. */
function groupsOf(
  prompts: Completions['prompts'],
  answers: Completions['answers'],
): readonly (readonly number[])[] {
  const images = new Map<Uint8Array, number>();
  // Bytes are told apart by identity: repeated prompts share their images.
  const replacer = (_: string, value: unknown): unknown => {
    if (!(value instanceof Uint8Array)) return value;
    if (!images.has(value)) images.set(value, images.size);
    return { image: images.get(value) };
  };
  const groups = new Map<string, number[]>();
  prompts.forEach((prompt, index) => {
    const key = JSON.stringify([prompt, answers[index]], replacer);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  });
  return [...groups.values()];
}
