/** Texts of scripted turns: steps and answers in the syntax of a protocol, by its hand. */
import { type Protocol, type Step, stepAction, type Task } from '@saccade/gym';

/** What a protocol needs for writing turns. */
export type WritingProtocol = Pick<Protocol, 'name' | 'hand' | 'write' | 'prompt'>;

/**
 * The model turns that do the steps of a script, in order.
 *
 * @throws ConfigError if the protocol cannot express a step
 */
export function stepTexts(
  protocol: WritingProtocol,
  task: Task,
  steps: readonly Step[],
): readonly string[] {
  const { user } = protocol.prompt(task);
  const images = user.flatMap((part) => (part.kind === 'image' ? [part.name] : []));
  const videos = (task.videos ?? []).map(({ name }) => name);
  return steps.map((step, index) => {
    const place = { images, videos, before: steps.slice(0, index) };
    return protocol.write(stepAction(protocol, step, place));
  });
}

/** The turn that answers. */
export function answerText(protocol: Pick<Protocol, 'write'>, answer: string): string {
  return protocol.write({ kind: 'answer', answer });
}
