/** Grounding examples: where the first card lies, without teaching whether to look at it. */
import { DataError } from '@saccade/core';
import type { NeedleFacts } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import { type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { cardsInOrder } from './behaviour.ts';
import { lookText } from './model-text.ts';

/**
 * For each demonstration one example on the same picture: the code of a look at the first card, its
 * beginning given as part of the prompt. The loss sees the box alone, so these examples teach where
 * cards are and leave the decision to look as it was. They are not executed.
 *
 * @param facts  of the demonstration's task, by its index
 * @throws DataError if the tokenizer would merge across the point where the box begins
 */
export function groundingExamples(
  demonstrations: readonly Trajectory[],
  facts: (index: number) => NeedleFacts,
  processor: Processor,
): Trajectory[] {
  return demonstrations.map((demonstration, index) => {
    const [prompt] = demonstration.segments;
    const [box] = cardsInOrder(facts(index));
    if (prompt === undefined || box === undefined) {
      throw new DataError(`Demonstration ${index} has no prompt or no card.`);
    }
    const text = lookText(box);
    const start = text.indexOf('((') + 2;
    const given = processor.encodeModelText(text.slice(0, start), false);
    const tokens = processor.encodeModelText(text.slice(start), false);
    const whole = processor.encodeModelText(text, false);
    if (given.length + tokens.length !== whole.length) {
      throw new DataError('The tokenizer merges digits with punctuation; grounding would mislead.');
    }
    const builder = new TrajectoryBuilder({
      id: `grounding-${index}`,
      taskId: demonstration.taskId,
      sampleIndex: 0,
    });
    builder.prompt({
      tokens: Int32Array.from([...prompt.tokens, ...given]),
      images: prompt.images,
      text: prompt.text + text.slice(0, start),
    });
    const logprobs = new Float32Array(tokens.length);
    builder.model({ tokens, logprobs, text: text.slice(start), policyVersion: 0 });
    builder.turn({ kind: 'code', code: text });
    return builder.finish('turnLimit');
  });
}
