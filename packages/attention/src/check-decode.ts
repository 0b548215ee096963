/** Compares decoding over a KV cache with attention over the packed row, on one device. */
import { type DType, randomAt } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { ContractError, firstDifference } from '@saccade/ops/contract';
import { drawSegments } from './draw-segments.ts';
import { attention, attentionDecode } from './ops/catalog.ts';
import { pathTo, planSegments, type SegmentPlan, segmentAt } from './segments.ts';

/** Sizes of a random problem for `checkDecodeMatchesAttention`. */
export interface DecodeShape {
  /** Tokens of the packed row; each is also decoded once. */
  readonly T: number;
  /** Segments of the random forest, at most T. */
  readonly S: number;
  /** Query heads. */
  readonly H: number;
  /** Key and value heads; divides H. */
  readonly G: number;
  /** Size of a head. */
  readonly D: number;
  /** Keys before its own that a query sees. Default 0: all. */
  readonly window?: number;
}

/**
 * Checks that decoding a token over the cache gives the same bits as attention over the packed row,
 * in the output and in the log-sum-exp.
 *
 * The tokens of a random forest lie in the cache segment by segment, with a slot of NaN after each
 * segment. Every token is decoded as one row whose spans are its ancestors' slots and its own
 * segment's up to itself.
 *
 * @throws ContractError if one element differs in a bit
 */
export async function checkDecodeMatchesAttention(
  device: Device,
  { T, S, H, G, D, window = 0 }: DecodeShape,
  seed: number,
  dtype: DType = 'f32',
): Promise<void> {
  const random = randomAt(seed, 'decode-matches-attention');
  const plan = planSegments(drawSegments(T, S, random));
  const normals = (length: number): Float32Array =>
    Float32Array.from({ length }, () => random.normal());
  const [q, k, v] = [normals(T * H * D), normals(T * G * D), normals(T * G * D)];
  const { spans, offsets } = spansOf(plan);

  const arrays = {
    q: device.upload(dtype, [T, H, D], q),
    k: device.upload(dtype, [T, G, D], k),
    v: device.upload(dtype, [T, G, D], v),
    segments: device.upload('i32', [S, 3], plan.segments),
    kCache: device.upload(dtype, [T + S, G, D], asCache(k, plan, G * D)),
    vCache: device.upload(dtype, [T + S, G, D], asCache(v, plan, G * D)),
    spans: device.upload('i32', [spans.length / 2, 2], spans),
    spanOffsets: device.upload('i32', [T + 1], offsets),
  };
  const { q: queries, kCache, vCache, spanOffsets } = arrays;
  const packed = device.forward(
    attention,
    { q: queries, k: arrays.k, v: arrays.v, segments: arrays.segments },
    { window },
  );
  const decoded = device.forward(
    attentionDecode,
    { q: queries, kCache, vCache, spans: arrays.spans, spanOffsets },
    { window },
  );
  const expected = [...(await device.read(packed.out)), ...(await device.read(packed.lse))];
  const got = [...(await device.read(decoded.out)), ...(await device.read(decoded.lse))];
  const results = [packed.out, packed.lse, decoded.out, decoded.lse];
  for (const array of [...Object.values(arrays), ...results]) device.free(array);
  const at = firstDifference(got, expected);
  if (at < 0) return;
  throw new ContractError(
    `attentionDecode on ${device.backend.name} (T ${T}, S ${S}, H ${H}, G ${G}, D ${D}, window ` +
      `${window}; ${dtype}, seed ${seed}): ` +
      `${at < T * H * D ? `token ${Math.floor(at / (H * D))}` : 'an lse'} gives ${got[at]}, ` +
      `attention gives ${expected[at]}. Walk the keys of both in the same logical order and blocks.`,
  );
}

/** Segment s starts s slots later than in the packed row. */
function spansOf(plan: SegmentPlan): { spans: number[]; offsets: number[] } {
  const spans: number[] = [];
  const offsets = [0];
  for (let t = 0; t < plan.tokenCount; t++) {
    for (const s of pathTo(plan.segments, plan.segmentOf[t])) {
      const { start, end } = segmentAt(plan.segments, s);
      spans.push(start + s, Math.min(end, t + 1) + s);
    }
    offsets.push(spans.length / 2);
  }
  return { spans, offsets };
}

function asCache(rows: Float32Array, plan: SegmentPlan, width: number): Float32Array {
  const slots = plan.tokenCount + plan.segmentCount;
  const cache = new Float32Array(slots * width).fill(Number.NaN);
  for (let t = 0; t < plan.tokenCount; t++) {
    const slot = t + plan.segmentOf[t];
    cache.set(rows.subarray(t * width, (t + 1) * width), slot * width);
  }
  return cache;
}
