/**
 * Segment plans: the layout of sequences, shared prefixes and trees that are packed in one row of
 * tokens.
 *
 * Segments tile [0, T) in depth-first pre-order, so the tokens that may see a key k are exactly the
 * interval k ≤ q < kvEnd[k], where kvEnd is the end of the subtree of k's segment.
 */
import { expectLength, ShapeError } from '@saccade/core';

/**
 * The layout of one packed row. Query q sees key k exactly if k ≤ q < kvEnd[k]. A plan is made once
 * per micro-batch and shared by all layers; do not write to its arrays.
 */
export interface SegmentPlan {
  /** T: packed tokens. */
  readonly tokenCount: number;
  /** S: segments. */
  readonly segmentCount: number;
  /** [S, 3]: start, end (exclusive), and the parent's index or −1. The operand of `attention`. */
  readonly segments: Int32Array;
  /** [T]: end (exclusive) of the tokens that may see this one. */
  readonly kvEnd: Int32Array;
  /** [T]: the segment of each token. */
  readonly segmentOf: Int32Array;
  /** [T]: distance from the root; a child continues from its parent's end. */
  readonly positions: Int32Array;
  /** [S]: the root above each segment; itself for a root. */
  readonly roots: Int32Array;
}

/** A segment and the segments that continue it. */
export interface SegmentTree {
  /** Tokens of this segment, at least 1. */
  readonly length: number;
  readonly children?: readonly SegmentTree[];
}

/** Token counts of one GRPO group: a prompt and the responses that continue it. */
export interface SharedPrefix {
  /** Tokens of the prompt that all responses share. */
  readonly prefixLength: number;
  /** Tokens of each response. */
  readonly responseLengths: readonly number[];
}

/** Plans independent sequences, one after another: padding-free packing. */
export function planVarlen(lengths: readonly number[]): SegmentPlan {
  return planTree(lengths.map((length) => ({ length })));
}

/** Plans one prompt and its responses, as in a GRPO group. The prompt is stored once. */
export function planSharedPrefix({ prefixLength, responseLengths }: SharedPrefix): SegmentPlan {
  const children = responseLengths.map((length) => ({ length }));
  return planTree([{ length: prefixLength, children }]);
}

/**
 * Plans a forest in depth-first pre-order: several groups, or turns that branch, at any depth.
 *
 *   planTree([{ length: 5, children: [{ length: 2 }, { length: 3 }] }, { length: 4 }])
 *
 * @throws ShapeError if there is no segment or one is empty
 */
export function planTree(roots: readonly SegmentTree[]): SegmentPlan {
  const rows: number[] = [];
  let end = 0;
  const place = (tree: SegmentTree, parent: number): void => {
    const segment = rows.length / 3;
    rows.push(end, end + tree.length, parent);
    end += tree.length;
    for (const child of tree.children ?? []) place(child, segment);
  };
  for (const root of roots) place(root, -1);
  return planSegments(Int32Array.from(rows));
}

/** Several plans one after another in one plan. */
export function joinPlans(plans: readonly SegmentPlan[]): SegmentPlan {
  const segments: number[] = [];
  const positions: number[] = [];
  for (const plan of plans) {
    const firstToken = positions.length;
    const firstSegment = segments.length / 3;
    for (let s = 0; s < plan.segmentCount; s++) {
      const { start, end, parent } = segmentAt(plan.segments, s);
      segments.push(start + firstToken, end + firstToken);
      segments.push(parent < 0 ? -1 : parent + firstSegment);
    }
    for (const position of plan.positions) positions.push(position);
  }
  return withPositions(planSegments(Int32Array.from(segments)), positions);
}

/**
 * The plan of given segments.
 *
 * @param segments  [S, 3] start, end, parent or −1
 * @throws ShapeError if they do not tile [0, T) in depth-first pre-order, or one is empty
 */
export function planSegments(segments: Int32Array): SegmentPlan {
  const segmentCount = segments.length / 3;
  if (!Number.isInteger(segmentCount) || segmentCount === 0) {
    throw new ShapeError(
      `A plan needs a start, an end and a parent for each of at least one segment, ` +
        `got ${segments.length} numbers. Pass [S, 3].`,
    );
  }
  expectTiling(segments);
  const tokenCount = segmentAt(segments, segmentCount - 1).end;
  const subtreeEnds = subtreeEndsOf(segments);
  const kvEnd = new Int32Array(tokenCount);
  const segmentOf = new Int32Array(tokenCount);
  const positions = new Int32Array(tokenCount);
  const roots = new Int32Array(segmentCount);
  for (let s = 0; s < segmentCount; s++) {
    const { start, end, parent } = segmentAt(segments, s);
    const before = parent < 0 ? 0 : positions[segmentAt(segments, parent).end - 1] + 1;
    roots[s] = parent < 0 ? s : roots[parent];
    kvEnd.fill(subtreeEnds[s], start, end);
    segmentOf.fill(s, start, end);
    for (let t = start; t < end; t++) positions[t] = before + (t - start);
  }
  return Object.freeze({
    tokenCount,
    segmentCount,
    segments: segments.slice(),
    kvEnd,
    segmentOf,
    positions,
    roots,
  });
}

/** The same plan with other positions, for models whose positions differ (M-RoPE over images). */
export function withPositions(plan: SegmentPlan, positions: ArrayLike<number>): SegmentPlan {
  expectLength('positions', positions.length, plan.tokenCount);
  return Object.freeze({ ...plan, positions: Int32Array.from(positions) });
}

/** The segments from the root down to `segment`, which is the last. */
export function pathTo(segments: Int32Array, segment: number): readonly number[] {
  const path: number[] = [];
  for (let s = segment; s >= 0; s = segments[s * 3 + 2]) path.unshift(s);
  return path;
}

/** Row `segment` of an [S, 3] array. */
export function segmentAt(
  segments: ArrayLike<number>,
  segment: number,
): { readonly start: number; readonly end: number; readonly parent: number } {
  const row = segment * 3;
  return { start: segments[row], end: segments[row + 1], parent: segments[row + 2] };
}

/** Where the subtree of each segment ends: its own end, or its last descendant's. */
export function subtreeEndsOf(segments: ArrayLike<number>): Int32Array {
  const count = segments.length / 3;
  const ends = Int32Array.from({ length: count }, (_, s) => segmentAt(segments, s).end);
  // Children come after their parents, so walking backwards every child is complete.
  for (let s = count - 1; s >= 0; s--) {
    const { parent } = segmentAt(segments, s);
    if (parent >= 0) ends[parent] = Math.max(ends[parent], ends[s]);
  }
  return ends;
}

function expectTiling(segments: Int32Array): void {
  const open: number[] = [];
  let expectedStart = 0;
  for (let s = 0; s < segments.length / 3; s++) {
    const { start, end, parent } = segmentAt(segments, s);
    if (start !== expectedStart) {
      throw new ShapeError(
        `Segment ${s} starts at ${start}, expected ${expectedStart}. ` +
          'Segments must tile the tokens without gaps; list them in order.',
      );
    }
    if (end <= start) {
      throw new ShapeError(
        `Segment ${s} must hold at least 1 token, got ${end - start}. Leave it out of the plan.`,
      );
    }
    while (open.length > 0 && open.at(-1) !== parent) open.pop();
    if (parent !== -1 && open.length === 0) {
      throw new ShapeError(
        `Segment ${s} has parent ${parent}, which is not on the path to segment ${s - 1}. ` +
          'List the segments in depth-first pre-order: each subtree right after its root.',
      );
    }
    open.push(s);
    expectedStart = end;
  }
}
