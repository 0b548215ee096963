/** Examples of one turn: the prompt, its images in the context, and the true answer to it. */
import { span } from '@saccade/core';
import type { Protocol, Task } from '@saccade/gym';
import type { ContentPart, Processor } from '@saccade/policy';
import type { ModelImages } from '@saccade/rollout';
import { type Trajectory, TrajectoryBuilder, type TrajectoryImage } from '@saccade/trajectory';
import { answerText } from './turn-text.ts';

export interface OneTurnOptions {
  readonly protocol: Protocol;
  readonly processor: Processor;
  readonly images: ModelImages;
}

/** A task answered at once, without a sandbox. */
export async function answeredAtOnce(
  task: Task,
  { protocol, processor, images }: OneTurnOptions,
): Promise<Trajectory> {
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
  const prompt = span('tokens/encode', () => processor.encodePrompt(content, system));
  const builder = new TrajectoryBuilder({ id: task.id, taskId: task.id, sampleIndex: 0 });
  builder.prompt({
    tokens: prompt.tokens,
    images: recorded,
    text: processor.decode(prompt.tokens),
  });
  const text = answerText(protocol, task.answer);
  const tokens = span('tokens/encode', () => processor.encodeModelText(text, true));
  const logprobs = new Float32Array(tokens.length);
  builder.model({ tokens, logprobs, text, policyVersion: 0 });
  builder.turn(protocol.parse(text));
  return builder.finish('answered');
}
