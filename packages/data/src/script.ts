/** Scripts of demonstrators: the steps before the answer, in no protocol's syntax. */
import type { Random } from '@saccade/core';
import type { CardVideoFacts, NeedleFacts, Step, Task, TurnedNeedleFacts } from '@saccade/gym';
import type { Action } from '@saccade/trajectory';
import { type DemonstrationMix, planLooks } from './behavior.ts';
import { planTurned, type TurnedMix } from './turned-behavior.ts';
import { planVideo, STRIP_FRAMES, STRIP_STRIDE } from './video-behavior.ts';

/** An action that is given as it is, for tools that no step stands for. */
export interface Act {
  readonly kind: 'act';
  readonly action: Action;
  /** Images that it has to show. Default 1. */
  readonly images?: number;
}

/** The steps of a demonstration of a task, in order; the true answer follows them. */
export type Script = (task: Task, random: Random) => readonly (Step | Act)[];

/** Looks at the cards of `needle`. */
export function needleScript(mix: DemonstrationMix): Script {
  return ({ metadata }, random) =>
    planLooks(metadata as unknown as NeedleFacts, mix, random).map((box) => ({
      kind: 'look',
      box,
    }));
}

/** Turns and looks on the tables of `turned-needle` and `graded-needle`. */
export function turnedScript(mix: TurnedMix): Script {
  return ({ metadata, images }, random) => {
    const facts = metadata as unknown as TurnedNeedleFacts;
    return planTurned(facts, mix, random, images[0]?.width ?? 0);
  };
}

/** The strip of `card-video`. */
export const filmStrip: Step = { kind: 'filmStrip', stride: STRIP_STRIDE, count: STRIP_FRAMES };

/** A strip of small frames, then frames in full, of the clips of `card-video`. */
export function videoScript(mix: DemonstrationMix): Script {
  return ({ metadata }, random) =>
    planVideo(metadata as unknown as CardVideoFacts, mix, random).map((step) =>
      step === 'strip' ? filmStrip : { kind: 'frame', index: step },
    );
}
