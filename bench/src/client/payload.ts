/** Trajectories as large as those of a real run, with random tokens, and images of random bytes. */
import { randomFillSync } from 'node:crypto';
import { randomAt } from '@saccade/core';
import {
  type ModelImage,
  QwenProcessor,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import type { PackItem } from '@saccade/rollout';
import type { Segment, TrajectoryImage } from '@saccade/trajectory';

/** Sizes of a step. */
export interface PayloadSizes {
  readonly trajectories: number;
  /** Trajectories of a prompt. */
  readonly group: number;
  /** Tokens of a trajectory, its prompt and its images included. */
  readonly tokens: number;
  readonly promptTokens: number;
  /** Images of a trajectory; the first is in its prompt, which the group has in common. */
  readonly images: number;
  readonly imageTokens: number;
  /** Bytes of an image's file. */
  readonly imageBytes: number;
}

/** The most numerous vocabulary of the sizes that are meant: ids are as long in JSON as theirs. */
export const VOCABULARY = 151_936;
const FIRST_TEXT = 1000;
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/**
 * A processor whose images have the tokens that their bytes say: preparing them is no part of what is
 * measured, and takes memory that a server with a device has elsewhere.
 */
export function payloadProcessor(): QwenProcessor {
  return new PayloadProcessor(trainTokenizer(['measured'], 300), qwenImageProcessor);
}

class PayloadProcessor extends QwenProcessor {
  override async prepareImage(encoded: Uint8Array): Promise<ModelImage> {
    const tokenCount = new DataView(encoded.buffer, encoded.byteOffset).getUint32(PNG.length);
    const patches = new Float32Array(0);
    const grid = { gridHeight: 2, gridWidth: 2 * tokenCount, width: 28, height: 28 };
    return { patches, tokenCount, source: encoded, ...grid };
  }
}

/** Trajectories of one step; another seed gives other ones, whose images no server has. */
export function makeTrajectories(
  sizes: PayloadSizes,
  imageToken: number,
  seed: number,
): readonly PackItem[] {
  const { trajectories, group, tokens, promptTokens, images, imageTokens } = sizes;
  const random = randomAt(seed, 'payload');
  const text = (length: number): Int32Array =>
    Int32Array.from({ length }, () => FIRST_TEXT + random.integer(VOCABULARY - FIRST_TEXT));
  const image = (name: string): TrajectoryImage => imageOf(name, sizes);
  const observation = (name: string): Segment => ({
    kind: 'observation',
    tokens: Int32Array.from({ length: imageTokens }, () => imageToken),
    images: [image(name)],
    text: '',
  });
  const model = (length: number): Segment => ({
    kind: 'model',
    tokens: text(length),
    logprobs: Float32Array.from({ length }, () => -random.uniform()),
    images: [],
    text: '',
  });
  const own = images - Math.min(1, images);
  const turns = own + 1;
  const written = Math.max(turns, tokens - promptTokens - own * imageTokens);
  return Array.from({ length: Math.ceil(trajectories / group) }, (_, prompt) => {
    const placed = images > 0 ? Math.min(imageTokens, promptTokens - 1) : 0;
    const first = text(promptTokens);
    first.fill(imageToken, 0, placed);
    const promptImages = images > 0 ? [imageOf('image', { ...sizes, imageTokens: placed })] : [];
    const head: Segment = { kind: 'prompt', tokens: first, images: promptImages, text: '' };
    const count = Math.min(group, trajectories - prompt * group);
    return Array.from({ length: count }, (_, sampleIndex): PackItem => {
      const segments: Segment[] = [head];
      for (let turn = 0; turn < turns; turn++) {
        const length = Math.floor(written / turns) + (turn < written % turns ? 1 : 0);
        if (turn > 0) segments.push(observation(`image_${turn}`));
        segments.push(model(length));
      }
      return {
        trajectory: {
          id: `${seed}/${prompt}/${sampleIndex}`,
          taskId: `${seed}/${prompt}`,
          sampleIndex,
          segments,
          turns: [],
          stopReason: 'answered',
          policyVersion: 0,
        },
      };
    });
  }).flat();
}

function imageOf(
  name: string,
  { imageTokens, imageBytes }: Pick<PayloadSizes, 'imageTokens' | 'imageBytes'>,
): TrajectoryImage {
  const png = new Uint8Array(Math.max(imageBytes, PNG.length + 4));
  randomFillSync(png);
  png.set(PNG);
  new DataView(png.buffer).setUint32(PNG.length, imageTokens);
  const size = { width: 28, height: 28, modelWidth: 28, modelHeight: 28 };
  return { name, png, tokenCount: imageTokens, ...size };
}
