/**
 * Reading examples: looks at cards in the context and the digit that one of them shows as the answer.
 * They need no sandbox.
 */
import { type EventSink, randomAt } from '@saccade/core';
import {
  defaultNeedle,
  drawDecoy,
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
import { inChunks } from './in-chunks.ts';
import { answerText } from './model-text.ts';

export interface ReadingOptions {
  readonly protocol: Protocol;
  readonly processor: Processor;
  readonly images: ModelImages;
  readonly seed: number;
  readonly count: number;
  readonly onEvent?: EventSink;
}

/** Looks with a digit of the training split among them, as one-turn trajectories. */
export function readingExamples(options: ReadingOptions): Promise<Trajectory[]> {
  return inChunks('readings', options, (index) => readingExample(options, index));
}

async function readingExample(options: ReadingOptions, index: number): Promise<Trajectory> {
  const { protocol, processor, images, seed } = options;
  const random = randomAt(seed, 'reading', index);
  const digits = mnist('train');
  const digit = random.integer(digits.count);
  const { cards, texture } = defaultNeedle;
  const decoys = Array.from({ length: random.integer(cards) }, () => drawDecoy(digits, random));
  const looks = random
    .shuffle([digits.pixels(digit), ...decoys])
    .map((ink) => drawLook(ink, texture, random));
  const task: Task = {
    id: `reading-${String(index).padStart(6, '0')}`,
    question: needleQuestion,
    images: await Promise.all(
      looks.map(async (look, i) => ({
        name: `image_clue_${i}`,
        png: await encodePicture(look),
        width: look.width,
        height: look.height,
      })),
    ),
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
    const { name, png, width, height } = part;
    const image = await images.prepare(png);
    content.push({ kind: 'image', image });
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
