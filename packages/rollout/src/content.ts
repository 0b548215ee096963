/** From an environment's message to tokens, and to the images of a ledger. */
import { span } from '@saccade/core';
import type { MessagePart } from '@saccade/gym';
import type { ContentPart, EncodedContent, ModelImage, Processor } from '@saccade/policy';
import type { GivenTokens, TrajectoryImage } from '@saccade/trajectory';
import type { ModelImages } from './model-images.ts';

/** A message ready for the ledger, with its images as the model takes them. */
export interface EncodedMessage extends GivenTokens {
  readonly modelImages: readonly ModelImage[];
}

/** Prepares a message's images and turns all of it into tokens. */
export async function encodeMessage(
  parts: readonly MessagePart[],
  images: ModelImages,
  processor: Processor,
  encode: (content: readonly ContentPart[]) => EncodedContent,
): Promise<EncodedMessage> {
  const recorded: TrajectoryImage[] = [];
  const content: ContentPart[] = [];
  for (const part of parts) {
    if (part.kind === 'text') {
      content.push(part);
      continue;
    }
    const image = await images.prepare(part.png);
    content.push({ kind: 'image', image });
    recorded.push({
      name: part.name,
      png: part.png,
      width: part.width,
      height: part.height,
      modelWidth: image.width,
      modelHeight: image.height,
      tokenCount: image.tokenCount,
      ...(part.origin && { origin: part.origin }),
    });
  }
  const { tokens, images: modelImages } = span('tokens/encode', () => encode(content));
  const text = span('tokens/decode', () => processor.decode(tokens));
  return { tokens, images: recorded, text, modelImages };
}
