/** Scripted trajectories for the cold start: they run in the real environment, no model in sight. */
import { DataError, type Random, randomAt } from '@saccade/core';
import type { Task } from '@saccade/gym';
import type { Processor, SampleRequest, SampleResult, Sampler } from '@saccade/policy';
import { type MakeEnv, type ModelImages, runRollouts } from '@saccade/rollout';
import type { Segment, Trajectory } from '@saccade/trajectory';
import { answerText, toolCallText } from '../environment/tool-call.ts';
import { type CardsFacts, cellBox, factsOf } from '../task/cards.ts';
import { CELL } from '../task/draw-table.ts';
import type { Box } from '../task/pixel-image.ts';

/** How demonstrations behave; the rest is left for reinforcement learning to improve. */
export interface DemonstrationMix {
  /** Probability of answering before any look, which is a guess. */
  readonly answerWithoutLooking: number;
  /** Probability that a look goes to a cell without a card. */
  readonly lookAtNothing: number;
  /** Probability, after the symbol was seen, of answering instead of looking on. */
  readonly answerAfterSeeing: number;
  /** Probability, while it was not seen, of answering anyway. */
  readonly answerAfterMissing: number;
  /** Probability that a look is a zoom instead of a crop. */
  readonly zoomInstead: number;
}

/** Every card is visited until the symbol was seen, and now and then one more. */
export function tourMix({ zoomInstead }: DemonstrationMix): DemonstrationMix {
  return {
    answerWithoutLooking: 0,
    lookAtNothing: 0,
    answerAfterSeeing: 0.75,
    answerAfterMissing: 0,
    zoomInstead,
  };
}

/** The card alone, as a crop shows it, and what it shows: for tables of one cell. */
export const readingMix: DemonstrationMix = {
  answerWithoutLooking: 1,
  lookAtNothing: 0,
  answerAfterSeeing: 1,
  answerAfterMissing: 1,
  zoomInstead: 0,
};

export interface DemonstrateOptions {
  readonly makeEnv: MakeEnv;
  readonly processor: Processor;
  readonly images: ModelImages;
  readonly mix: DemonstrationMix;
  /** Cells per row and per column. */
  readonly cells: number;
  readonly toolCalls: number;
  readonly seed: number;
}

/** One demonstration per task, in order. @throws DataError if the environment does not play along */
export async function demonstrate(
  tasks: readonly Task[],
  options: DemonstrateOptions,
): Promise<readonly Trajectory[]> {
  const stream = 'demonstrations';
  const scripts = new Map(
    tasks.map((task) => [
      `${stream}/${task.id}/0`,
      scriptOf(task, options, randomAt(options.seed, stream, task.id)),
    ]),
  );
  const { groups } = await runRollouts(
    scriptedSampler(options.processor, scripts),
    options.makeEnv,
    tasks,
    {
      groupSize: 1,
      seed: options.seed,
      stream,
      maxTokensPerTurn: 1 << 20,
      maxContextTokens: 1 << 20,
      images: options.images,
    },
  );
  return groups.flatMap(({ taskId, trajectories }) => {
    for (const { stopReason, failure } of trajectories) {
      if (stopReason === 'answered') continue;
      throw new DataError(
        `The demonstration of ${taskId} ended as ${stopReason}: ${failure?.message ?? 'too long'}. ` +
          'Give it more tool calls.',
      );
    }
    return trajectories;
  });
}

/** The text that the demonstrator writes, turn by turn. */
function scriptOf(task: Task, options: DemonstrateOptions, random: Random): readonly string[] {
  const { mix, toolCalls, cells } = options;
  const facts = factsOf(task);
  const turns: string[] = [];
  let isDone = random.uniform() < mix.answerWithoutLooking;
  let hasSeen = false;
  for (let visits = 0; !isDone && turns.length < toolCalls; ) {
    const isLost = random.uniform() < mix.lookAtNothing;
    const box = isLost
      ? cellBox(random.integer(cells * cells), cells)
      : (facts.cards[visits++ % facts.cards.length] ?? facts.box);
    turns.push(lookText(box, cells, random.uniform() < mix.zoomInstead));
    hasSeen ||= isSame(box, facts.box);
    isDone = random.uniform() < (hasSeen ? mix.answerAfterSeeing : mix.answerAfterMissing);
  }
  return [...turns, answerText(task.answer)];
}

function isSame(a: Box, b: CardsFacts['box']): boolean {
  return a.every((side, index) => side === b[index]);
}

/** One look at a cell. */
function lookText(box: Box, cells: number, isZoom: boolean): string {
  const center = [box[0] + CELL / 2, box[1] + CELL / 2];
  return toolCallText(
    isZoom
      ? { name: 'zoom', arguments: { center, factor: cells } }
      : { name: 'crop', arguments: { box } },
  );
}

/** Plays the scripts by conversation; a script's log-probs are zero. */
function scriptedSampler(
  processor: Processor,
  scripts: ReadonlyMap<string, readonly string[]>,
): Sampler {
  const played = new Map<string, number>();
  return {
    version: 0,
    processor,
    async sample({ conversation }: SampleRequest): Promise<SampleResult> {
      const turn = played.get(conversation) ?? 0;
      const text = scripts.get(conversation)?.[turn];
      if (text === undefined) throw new DataError(`The script of ${conversation} is over.`);
      played.set(conversation, turn + 1);
      const tokens = processor.encodeModelText(text, false);
      const logprobs = new Float32Array(tokens.length);
      return { tokens, logprobs, text, finish: 'stop', policyVersion: 0 };
    },
    release(conversation: string): void {
      played.delete(conversation);
    },
  };
}

/** A turn has decided what it does once it said one of these. */
const DECISIONS = ['<tool_call>', '<answer>'] as const;

/**
 * The same trajectory with the tokens that decide what a turn does moved into the tokens before it:
 * it teaches how calls are written, where cards are and what they show, not whether to look.
 */
export function guide(demonstration: Trajectory, processor: Processor): Trajectory {
  const segments: Segment[] = [];
  for (const segment of demonstration.segments) {
    const before = segments.at(-1);
    const count = segment.kind === 'model' ? decisionLength(segment, processor) : 0;
    if (before === undefined || count === 0) {
      segments.push(segment);
      continue;
    }
    const given = [...before.tokens, ...segment.tokens.subarray(0, count)];
    segments[segments.length - 1] = { ...before, tokens: Int32Array.from(given) };
    const tokens = segment.tokens.slice(count);
    segments.push({ ...segment, tokens, logprobs: new Float32Array(tokens.length) });
  }
  return { ...demonstration, id: `${demonstration.id}/guided`, segments };
}

/** The fewest first tokens that say what a turn does; 0 if they are all of it. */
function decisionLength({ tokens }: Segment, processor: Processor): number {
  for (let count = 1; count < tokens.length; count++) {
    const said = processor.decode(tokens.subarray(0, count));
    if (DECISIONS.some((decision) => said.includes(decision))) return count;
  }
  return 0;
}
