/** Texts of scripted turns: steps and answers in the syntax of a protocol, by its hand. */
import { type Protocol, type Step, showsImage, stepAction, type Task } from '@saccade/gym';
import type { Act } from './act.ts';

/** The parts of a protocol needed to write turns. */
export type WritingProtocol = Pick<Protocol, 'name' | 'hand' | 'write' | 'prompt'>;

/**
 * The model turns that do the steps of a script, in order.
 *
 * @throws ConfigError if the protocol cannot express a step
 */
export function stepTexts(
  protocol: WritingProtocol,
  task: Task,
  steps: readonly (Step | Act)[],
): readonly string[] {
  const { user } = protocol.prompt(task);
  const images = user.flatMap((part) => (part.kind === 'image' ? [part.name] : []));
  const videos = (task.videos ?? []).map(({ name }) => name);
  return steps.map((step, index) => {
    if (step.kind === 'act') return protocol.write(step.action, step.thought);
    const place = { images, videos, before: stepsIn(steps.slice(0, index)) };
    return protocol.write(stepAction(protocol, step, place));
  });
}

/** What has to come of a step: how many images at least, or a refusal. */
export type Expected = { readonly images: number } | 'refused';

/** What has to come of each step of a script in a protocol. */
export function expectedResults(
  { hand }: Pick<Protocol, 'hand'>,
  steps: readonly (Step | Act)[],
): readonly Expected[] {
  return steps.map((step, index) => {
    if (step.kind === 'act') return step.isRefused ? 'refused' : { images: step.images ?? 1 };
    const place = { images: [], videos: [], before: stepsIn(steps.slice(0, index)) };
    return { images: hand === undefined || showsImage(hand, step, place) ? 1 : 0 };
  });
}

/** Those that are steps: an action of its own changes nothing for later looks. */
function stepsIn(steps: readonly (Step | Act)[]): readonly Step[] {
  return steps.filter((step): step is Step => step.kind !== 'act');
}

/** The turn that answers. */
export function answerText(protocol: Pick<Protocol, 'write'>, answer: string): string {
  return protocol.write({ kind: 'answer', answer });
}
