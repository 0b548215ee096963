/** Scripts of demonstrators: the texts of the turns before the answer. */
import type { Random } from '@saccade/core';
import type { NeedleFacts, Task, TurnedNeedleFacts } from '@saccade/gym';
import { type DemonstrationMix, planLooks } from './behaviour.ts';
import { lookText, turnText } from './model-text.ts';
import { planTurned, type TurnedMix } from './turned-behaviour.ts';

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
