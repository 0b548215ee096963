/** Scripts of demonstrators: the steps before the answer, in no protocol's syntax. */
import type { Random } from '@saccade/core';
import type {
  CardVideoFacts,
  NeedleFacts,
  Step,
  Task,
  ToolNeedleFacts,
  TurnedNeedleFacts,
} from '@saccade/gym';
import type { Act } from './act.ts';
import { type DemonstrationMix, planLooks } from './behavior.ts';
import { planTools, type ToolMix } from './tool-behavior.ts';
import { planTurned, type TurnedMix } from './turned-behavior.ts';
import { planVideo, STRIP_FRAMES, STRIP_STRIDE } from './video-behavior.ts';

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

/** Calls of tools on the tables of `tool-needle`, as VISTA writes them. */
export function toolScript(mix: ToolMix): Script {
  return ({ metadata, images }, random) => {
    const facts = metadata as unknown as ToolNeedleFacts;
    return planTools(facts, mix, random, images[0]?.width ?? 0);
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
