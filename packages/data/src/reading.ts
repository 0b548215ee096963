/** Reading examples: one card in the context and its digit as the answer; they need no sandbox. */
import { randomAt } from '@saccade/core';
import {
  defaultNeedle,
  drawLook,
  encodePicture,
  mnist,
  needleQuestion,
  type Protocol,
  type Task,
} from '@saccade/gym';
import type { ContentPart, Processor } from '@saccade/policy';
import type { ModelImages } from '@saccade/rollout';
import { type Trajectory, TrajectoryBuilder, type TrajectoryImage } from '@saccade/trajectory';
import { answerText } from './model-text.ts';

export interface ReadingOptions {
  readonly protocol: Protocol;
  readonly processor: Processor;
  readonly images: ModelImages;
  readonly seed: number;
  readonly count: number;
}

/** Cards with digits of the training split, as one-turn trajectories. */
export async function readingExamples(options: ReadingOptions): Promise<Trajectory[]> {
  const indices = Array.from({ length: options.count }, (_, i) => i);
  const examples: Trajectory[] = [];
  // In chunks: every card is a picture to encode and decode.
  for (let done = 0; done < indices.length; done += 256) {
    const chunk = indices.slice(done, done + 256);
    examples.push(...(await Promise.all(chunk.map((index) => readingExample(options, index)))));
  }
  return examples;
}

async function readingExample(options: ReadingOptions, index: number): Promise<Trajectory> {
  const { protocol, processor, images, seed } = options;
  const random = randomAt(seed, 'reading', index);
  const digits = mnist('train');
  const digit = random.integer(digits.count);
  const look = drawLook(digits.pixels(digit), defaultNeedle.texture, random);
  const png = await encodePicture(look);
  const task: Task = {
    id: `reading-${String(index).padStart(6, '0')}`,
    question: needleQuestion,
    images: [{ name: 'image_clue_0', png, width: look.width, height: look.height }],
    answer: String(digits.label(digit)),
    metadata: {},
  };
  const { user, system } = protocol.prompt(task);
  const recorded: TrajectoryImage[] = [];
  const content: ContentPart[] = [];
  for (const part of user) {
    if (part.kind === 'text') {
      content.push(part);
      continue;
    }
    const image = await images.prepare(part.png);
    content.push({ kind: 'image', image });
    const { name, width, height } = part;
    recorded.push({
      name,
      png,
      width,
      height,
      modelWidth: image.width,
      modelHeight: image.height,
      tokenCount: image.tokenCount,
    });
  }
  const prompt = processor.encodePrompt(content, system);
  const builder = new TrajectoryBuilder({ id: task.id, taskId: task.id, sampleIndex: 0 });
  builder.prompt({
    tokens: prompt.tokens,
    images: recorded,
    text: processor.decode(prompt.tokens),
  });
  const text = answerText(task.answer);
  const tokens = processor.encodeModelText(text, true);
  const logprobs = new Float32Array(tokens.length);
  builder.model({ tokens, logprobs, text, policyVersion: 0 });
  builder.turn({ kind: 'answer', answer: `\\boxed{${task.answer}}` });
  return builder.finish('answered');
}
