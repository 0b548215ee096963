/**
 * Captions: a look at a digit and right after it which one it is. Seeing is learned from them at a
 * fraction of what a conversation costs, as vision-language models learn it from captioned images.
 */
import { type EventSink, type Random, randomAt, span } from '@saccade/core';
import {
  defaultNeedle,
  drawLook,
  drawPrint,
  encodeImage,
  mnist,
  type PixelImage,
} from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import type { ModelImages } from '@saccade/rollout';
import { type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { inChunks } from './in-chunks.ts';

/**
 * Options of `captions`. Example `i` depends on `seed` and `i` alone, so a larger `count`
 * only appends examples.
 */
export interface CaptionOptions {
  readonly processor: Processor;
  readonly images: ModelImages;
  readonly seed: number;
  readonly count: number;
  /** Share of large prints instead of looks. Default 0. */
  readonly printShare?: number;
  /** Draws a look at a digit; by default that of a card of `needle`. */
  readonly draw?: (ink: Uint8Array, random: Random) => PixelImage;
  /** Ends their making. */
  readonly signal?: AbortSignal;
  readonly onEvent?: EventSink;
}

/**
 * Looks at digits of the training split with their labels, as trajectories of one image and one
 * text.
 */
export function captions(options: CaptionOptions): Promise<Trajectory[]> {
  return inChunks('captions', options, (index) => caption(options, index));
}

function drawNeedleLook(ink: Uint8Array, random: Random): PixelImage {
  return drawLook(ink, defaultNeedle.texture, random);
}

async function caption(options: CaptionOptions, index: number): Promise<Trajectory> {
  const { seed, printShare = 0, draw = drawNeedleLook } = options;
  const random = randomAt(seed, 'caption', index);
  const digits = mnist('train');
  const digit = random.integer(digits.count);
  const isPrint = printShare > 0 && random.uniform() < printShare;
  const ink = digits.pixels(digit);
  const drawn = span('images/draw', () => (isPrint ? drawPrint(ink) : draw(ink, random)));
  return captioned(drawn, String(digits.label(digit)), index, options);
}

/** An image alone and right after it what is said of it. */
export async function captioned(
  drawn: PixelImage,
  text: string,
  index: number,
  { processor, images }: Pick<CaptionOptions, 'processor' | 'images'>,
): Promise<Trajectory> {
  const { width, height } = drawn;
  const png = await encodeImage(drawn);
  const image = await images.prepare(png);
  const { tokens } = span('tokens/encode', () =>
    processor.encodeContent([{ kind: 'image', image }]),
  );
  const id = `caption-${String(index).padStart(6, '0')}`;
  const builder = new TrajectoryBuilder({ id, taskId: id, sampleIndex: 0 });
  const recorded = {
    name: 'image_clue_0',
    png,
    width,
    height,
    modelWidth: image.width,
    modelHeight: image.height,
    tokenCount: image.tokenCount,
  };
  builder.prompt({ tokens, images: [recorded], text: processor.decode(tokens) });
  const said = processor.encodeModelText(text, false);
  builder.model({ tokens: said, logprobs: new Float32Array(said.length), text, policyVersion: 0 });
  builder.turn({ kind: 'answer', answer: text });
  return builder.finish('answered');
}
