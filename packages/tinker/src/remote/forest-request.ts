/** A packed batch as a forest of the wire. */
import type { PackedBatch } from '@saccade/policy';
import type { ForestRequest } from '../client/tinker-model.ts';
import { blobOf, type ImageBlob } from '../wire/image-blob.ts';

/** The forest of a batch; its images go as hashes, and as bytes only where they are missing. */
export function forestRequest(
  { segments, rows, targets }: PackedBatch,
  options: Pick<ForestRequest, 'temperature' | 'weights' | 'sumSquaredProbs'>,
): ForestRequest {
  const blobs = new Map<string, ImageBlob>();
  const total = segments.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const all = new Int32Array(total);
  let start = 0;
  const described = segments.map(({ tokens, parent, images }) => {
    all.set(tokens, start);
    start += tokens.length;
    return {
      length: tokens.length,
      parent,
      images: images.map((image) => {
        const blob = blobOf(image);
        blobs.set(blob.sha256, blob);
        return { sha256: blob.sha256, expected_tokens: image.tokenCount };
      }),
    };
  });
  return { forest: { segments: described, tokens: all, rows, targets }, blobs, ...options };
}
