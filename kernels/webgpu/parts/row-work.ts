/** A workgroup's tile of query rows in a forest: forward and the gradient of q. */
import type { KernelCall } from '../kernel.ts';
import type { NumberKind } from '../shader.ts';
import { checkedWindow, headScale } from './attend.ts';
import { forestReader } from './forest.ts';
import { HEAD_NUMBERS, headNumbers } from './heads.ts';
import { KEYS } from './tiles.ts';

/** Numbers of the kernels that walk a forest. */
export const ROW_NUMBERS: Readonly<Record<string, NumberKind>> = {
  ...HEAD_NUMBERS,
  H: 'u32',
  scale: 'f32',
  G: 'u32',
  S: 'u32',
  ratio: 'u32',
  causal: 'u32',
  window: 'u32',
  across: 'u32',
  slices: 'u32',
};

/** Their values, but for those of the grid, and those that any kernel here takes. */
export function rowNumbers({ dims, scalars }: KernelCall): Readonly<Record<string, number>> {
  const { H, G, S, D } = dims;
  return {
    ...headNumbers(D),
    H,
    G,
    S,
    ratio: H / G,
    scale: headScale(scalars.scale, D) * Math.LOG2E,
    causal: scalars.causal === 0 ? 0 : 1,
    window: checkedWindow(scalars.window),
  };
}

/**
 * WGSL: `Work`, `find_work`, `row_at`, `sight_of` as parts/attend.ts wants them, and
 * `key_at(work, position, keys)`, for tiles of `rows` rows (token, query head of one key head).
 */
export const rowWork = (rows: number): string => `
${forestReader}
struct Work {
  measures: vec4i,
  head: u32,
  // Rows of the segment.
  first: u32,
  rows: u32,
  fromBlock: u32,
  endBlock: u32,
}

fn token_of(work: Work, row: u32) -> i32 { return i32((work.first + row) / p.ratio); }

// Logical keys [x, y).
fn sight_of(work: Work, row: u32) -> vec2i {
  let position = work.measures.x + token_of(work, row);
  var sight = vec2i(0, position + 1);
  if (p.causal == 0u) { sight.y = work.measures.x + work.measures.w; }
  if (p.window > 0u) { sight.x = max(position - i32(p.window), 0); }
  return sight;
}

fn row_at(work: Work, row: u32) -> u32 {
  let token = u32(work.measures.z + token_of(work, row));
  return token * p.H + work.head * p.ratio + (work.first + row) % p.ratio;
}

// The last tiles of a segment see most and go first.
fn find_work(at: Place) -> Work {
  var work = Work();
  let order = at.group.x + at.group.y * p.across;
  let tiles = u32(get_plan(0u).x);
  if (order >= tiles) { return work; }
  let tile = tiles - 1u - order;
  let segment = segment_of(tile, 1u);
  work.measures = measures_of(segment);
  work.head = at.group.z / p.slices;
  work.first = (tile - u32(tiles_of(segment).y)) * ${rows}u;
  work.rows = min(${rows}u, u32(work.measures.w) * p.ratio - work.first);
  work.fromBlock = u32(sight_of(work, 0u).x) / ${KEYS}u;
  work.endBlock = (u32(sight_of(work, work.rows - 1u).y) + ${KEYS - 1}u) / ${KEYS}u;
  return work;
}

// Where the head of a logical key lies, none of those from \`keys\` on.
fn key_at(work: Work, position: i32, keys: i32) -> u32 {
  if (position >= keys) { return 0xffffffffu; }
  return token_at(work.measures, position) * p.G + work.head;
}
`;
