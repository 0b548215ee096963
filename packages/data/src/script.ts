/** Scripts of demonstrators: the texts of the turns before the answer. */
import type { Random } from '@saccade/core';
import type { CardVideoFacts, NeedleFacts, Task, TurnedNeedleFacts } from '@saccade/gym';
import { type DemonstrationMix, planLooks } from './behaviour.ts';
import { filmStripText, frameText, lookText, turnText } from './model-text.ts';
import { planTurned, type TurnedMix } from './turned-behaviour.ts';
import { planVideo, STRIP_FRAMES, STRIP_STRIDE } from './video-behaviour.ts';

/** The code turns of a demonstration of a task, in order; the true answer follows them. */
export type Script = (task: Task, random: Random) => readonly string[];

/** Looks at the cards of `needle`. */
export function needleScript(mix: DemonstrationMix): Script {
  return ({ metadata }, random) =>
    planLooks(metadata as unknown as NeedleFacts, mix, random).map(lookText);
}

/** Turns and looks on the tables of `turned-needle` and `graded-needle`. */
export function turnedScript(mix: TurnedMix): Script {
  return ({ metadata, images }, random) => {
    const facts = metadata as unknown as TurnedNeedleFacts;
    return planTurned(facts, mix, random, images[0]?.width ?? 0).map((step) =>
      step.kind === 'turn' ? turnText(step.tool) : lookText(step.box),
    );
  };
}

/** A strip of small frames, then frames in full, of the clips of `card-video`. */
export function videoScript(mix: DemonstrationMix): Script {
  return ({ metadata }, random) =>
    planVideo(metadata as unknown as CardVideoFacts, mix, random).map((step) =>
      step === 'strip' ? filmStripText(STRIP_STRIDE, STRIP_FRAMES) : frameText(step),
    );
}
