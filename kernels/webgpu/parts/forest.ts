/**
 * The attention mask, built on the device: a pass of one workgroup checks that the segments
 * tile the tokens in depth-first pre-order and measures them; tiles find their segment by search.
 *
 * The plan is groups of four integers:
 *
 *   0         tiles of query rows, tiles of keys, 0, 0
 *   1 + 2s    keys before segment s on its path, parent, start, length
 *   2 + 2s    end of its subtree, first tile of query rows, first tile of keys, 0
 *   1 + 2S …  positions of the tokens, counted from their root, where asked for
 *
 * A segment that fails the checks leaves a plan without tiles.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type Shader, shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';
import { operand } from './operands.ts';

export interface ForestOptions {
  /** Query rows, pairs (token, head of one key head), of a tile. */
  readonly rowsPerTile: number;
  readonly keysPerTile: number;
  readonly hasPositions: boolean;
}

export interface Forest {
  readonly plan: GpuArray;
  readonly passes: readonly Pass[];
  /** Tiles there can be at most: workgroups to start. */
  readonly rowTiles: number;
  readonly keyTiles: number;
}

const THREADS = 128;

const check: Shader = shader({
  name: 'attention: plan of segments',
  arrays: { segments: 'read i32', plan: 'write i32' },
  numbers: { S: 'u32', T: 'u32', ratio: 'u32', rowsPerTile: 'u32', keysPerTile: 'u32' },
  threads: [THREADS, 1, 1],
  failures: [
    'segment {index} starts at {value}, not at the end of the one before it. ' +
      'Segments must tile the tokens in order.',
    'segment {index} ends at {value}, expected an end after its start and within {T} tokens. ' +
      'Segments must tile the tokens in order.',
    'segment {index} has parent {value}, which is not on the path to the segment before it. ' +
      'List segments in depth-first pre-order.',
    'segments end at {value} of {T} tokens. Segments must tile all tokens.',
  ],
  body: `
var<workgroup> worst: atomic<u32>;
var<workgroup> refused: u32;
var<workgroup> sums: array<vec2u, ${THREADS}>;

fn start_of(s: u32) -> i32 { return get_segments(3u * s); }
fn end_of(s: u32) -> i32 { return get_segments(3u * s + 1u); }
fn parent_of(s: u32) -> i32 { return get_segments(3u * s + 2u); }

// 0 if segment s is sound, given that those before it are.
fn fault_of(s: u32) -> u32 {
  var expected = 0;
  if (s > 0u) { expected = end_of(s - 1u); }
  if (start_of(s) != expected) { return 1u; }
  if (end_of(s) < start_of(s) || end_of(s) > i32(p.T)) { return 2u; }
  let parent = parent_of(s);
  var ancestor = i32(s) - 1;
  while (ancestor >= 0 && ancestor != parent) {
    let next = parent_of(u32(ancestor));
    // A parent that comes later is refused at its own segment.
    ancestor = select(next, -2, next >= ancestor);
  }
  if (ancestor != parent || parent < -1) { return 3u; }
  if (s + 1u == p.S && end_of(s) != i32(p.T)) { return 4u; }
  return 0u;
}

fn refuse(s: u32, fault: u32) {
  switch (fault) {
    case 1u: { fail(0, s, start_of(s)); }
    case 2u: { fail(1, s, end_of(s)); }
    case 3u: { fail(2, s, parent_of(s)); }
    default: { fail(3, p.S, end_of(s)); }
  }
}

fn keys_before(s: u32) -> i32 {
  var keys = 0;
  var ancestor = parent_of(s);
  while (ancestor >= 0) {
    keys += end_of(u32(ancestor)) - start_of(u32(ancestor));
    ancestor = parent_of(u32(ancestor));
  }
  return keys;
}

fn subtree_end(s: u32) -> i32 {
  var next = s + 1u;
  while (next < p.S) {
    if (parent_of(next) < i32(s)) { break; }
    next++;
  }
  return end_of(next - 1u);
}

fn main(at: Place) {
  if (at.index == 0u) { atomicStore(&worst, 0xffffffffu); }
  workgroupBarrier();
  for (var s = at.index; s < p.S; s += ${THREADS}u) {
    if (fault_of(s) != 0u) { atomicMin(&worst, s); }
  }
  workgroupBarrier();
  if (at.index == 0u) {
    refused = atomicLoad(&worst);
    if (refused != 0xffffffffu) { refuse(refused, fault_of(refused)); }
    if (p.S == 0u && p.T > 0u) {
      fail(3, 0, 0);
      refused = 0u;
    }
    put_plan(0u, 0);
    put_plan(1u, 0);
    put_plan(2u, 0);
    put_plan(3u, 0);
  }
  if (workgroupUniformLoad(&refused) != 0xffffffffu) { return; }

  var before = vec2u();
  for (var begin = 0u; begin < p.S; begin += ${THREADS}u) {
    let s = begin + at.index;
    var tiles = vec2u();
    if (s < p.S) {
      let length = u32(end_of(s) - start_of(s));
      tiles.x = (length * p.ratio + p.rowsPerTile - 1u) / p.rowsPerTile;
      tiles.y = (length + p.keysPerTile - 1u) / p.keysPerTile;
    }
    workgroupBarrier();
    sums[at.index] = tiles;
    for (var reach = 1u; reach < ${THREADS}u; reach *= 2u) {
      workgroupBarrier();
      var sum = sums[at.index];
      if (at.index >= reach) { sum += sums[at.index - reach]; }
      workgroupBarrier();
      sums[at.index] = sum;
    }
    workgroupBarrier();
    if (s < p.S) {
      let first = before + sums[at.index] - tiles;
      let row = 4u + 8u * s;
      put_plan(row, keys_before(s));
      put_plan(row + 1u, parent_of(s));
      put_plan(row + 2u, start_of(s));
      put_plan(row + 3u, end_of(s) - start_of(s));
      put_plan(row + 4u, subtree_end(s));
      put_plan(row + 5u, i32(first.x));
      put_plan(row + 6u, i32(first.y));
      put_plan(row + 7u, 0);
    }
    before += sums[${THREADS - 1}];
  }
  if (at.index == 0u) {
    put_plan(0u, i32(before.x));
    put_plan(1u, i32(before.y));
  }
}`,
});

const positions: Shader = shader({
  name: 'attention: positions of tokens',
  arrays: { plan: 'write i32' },
  numbers: { S: 'u32', T: 'u32', across: 'u32' },
  threads: [64, 1, 1],
  body: `
fn main(at: Place) {
  let token = (at.group.x + at.group.y * p.across) * 64u + at.index;
  // Nothing was measured of segments that were refused.
  if (token >= p.T || get_plan(1u) == 0) { return; }
  var low = 0u;
  var high = p.S;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (u32(get_plan(4u + 8u * middle + 2u)) <= token) { low = middle; } else { high = middle; }
  }
  let row = 4u + 8u * low;
  put_plan(4u + 8u * p.S + token, get_plan(row) + i32(token) - get_plan(row + 2u));
}`,
});

export function planForest(call: KernelCall, options: ForestOptions): Forest {
  const { T, H, G, S } = call.dims;
  const segments = operand(call, 'segments');
  const { rowsPerTile, keysPerTile } = options;
  const ratio = H / G;
  const tokens = options.hasPositions ? Math.ceil(T / 4) * 4 : 0;
  const plan = call.scratch('i32', 4 + 8 * S + tokens);
  const passes: Pass[] = [
    {
      shader: check,
      arrays: { segments, plan },
      numbers: { S, T, ratio, rowsPerTile, keysPerTile },
      workgroups: [1, 1, 1],
    },
  ];
  if (options.hasPositions) {
    const { workgroups, across } = foldGroups(Math.ceil(T / 64), call.limits);
    passes.push({ shader: positions, arrays: { plan }, numbers: { S, T, across }, workgroups });
  }
  const most = (items: number, perTile: number): number =>
    Math.min(items, Math.floor(items / perTile) + S);
  return {
    plan,
    passes,
    rowTiles: most(T * ratio, rowsPerTile),
    keyTiles: most(T, keysPerTile),
  };
}

/**
 * WGSL over a plan bound as `plan: 'read i32 vec4'`: `measures_of(s)`, `tiles_of(s)`, and
 * `segment_of(tile, kind)`, kind 1 being tiles of query rows and 2 of keys.
 */
export const forestReader = `
fn measures_of(s: u32) -> vec4i { return get_plan(1u + 2u * s); }
fn tiles_of(s: u32) -> vec4i { return get_plan(2u + 2u * s); }

// The last segment whose first tile is not after this one; empty segments have none.
fn segment_of(tile: u32, kind: u32) -> u32 {
  var low = 0u;
  var high = p.S;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (u32(tiles_of(middle)[kind]) <= tile) { low = middle; } else { high = middle; }
  }
  return low;
}

// The token at a position on the path that ends in a segment with these measures.
fn token_at(measures: vec4i, position: i32) -> u32 {
  var segment = measures;
  while (position < segment.x) { segment = measures_of(u32(segment.y)); }
  return u32(segment.z + position - segment.x);
}
`;
