/** A workgroup's tile of keys in a forest, and the query rows that may see them: gradients of k and v. */
import type { NumberKind } from '../shader.ts';
import { forestReader } from './forest.ts';
import { ROW_NUMBERS } from './row-work.ts';

/** Numbers of the shaders over it. */
export const KEY_NUMBERS: Readonly<Record<string, NumberKind>> = {
  ...ROW_NUMBERS,
  headScale: 'f32',
  hasUpstream: 'u32',
  keyHeads: 'u32',
  shares: 'u32',
  wantsKeys: 'u32',
  wantsValues: 'u32',
  firstKey: 'u32',
  endKey: 'u32',
  firstRow: 'u32',
  endRow: 'u32',
};

/**
 * WGSL: `Work`, `find_work`, `key_at` and `row_of` for tiles of `keys` keys, over the arrays `plan` and
 * `statistics` and the numbers {@link KEY_NUMBERS}.
 */
export const keyWork = (keys: number): string => `
const NONE = 0xffffffffu;

${forestReader}

struct Work {
  head: u32,
  // The query heads, those of one share.
  share: u32,
  firstHead: u32,
  heads: u32,
  // The first key, and how many.
  token: u32,
  position: i32,
  keys: u32,
  // The rows that may see them begin at this token; those of the slice among them.
  firstToken: u32,
  firstRow: u32,
  rows: u32,
}

fn find_work(at: Place) -> Work {
  var work = Work();
  let tile = at.group.x + at.group.y * p.across;
  if (tile >= u32(get_plan(0u).y)) { return work; }
  let segment = segment_of(tile, 2u);
  let measures = measures_of(segment);
  let tiles = tiles_of(segment);
  let first = (tile - u32(tiles.z)) * ${keys}u;
  let item = at.group.z / p.slices;
  work.head = item / p.shares;
  work.share = item % p.shares;
  let firstHead = work.share * p.ratio / p.shares;
  work.firstHead = work.head * p.ratio + firstHead;
  work.heads = (work.share + 1u) * p.ratio / p.shares - firstHead;
  work.token = u32(measures.z) + first;
  work.position = measures.x + i32(first);
  work.keys = min(${keys}u, u32(measures.w) - first);
  work.firstToken = select(u32(measures.z), work.token, p.causal != 0u);
  work.firstRow = (max(p.firstRow, work.firstToken) - work.firstToken) * work.heads;
  let endToken = max(min(p.endRow, u32(tiles.x)), work.firstToken);
  work.rows = (endToken - work.firstToken) * work.heads;
  if (work.token >= p.endKey || work.token + work.keys <= p.firstKey) { work.keys = 0u; }
  return work;
}

fn position_of(token: u32) -> i32 { return get_plan(1u + 2u * p.S + token / 4u)[token % 4u]; }

// Where the head of a key lies, none where that is not in the slice.
fn key_at(work: Work, row: u32) -> u32 {
  let token = work.token + row;
  let isBound = row < work.keys && token >= p.firstKey && token < p.endKey;
  return select(NONE, token * p.G + work.head, isBound);
}

struct Row {
  place: u32,
  // Positions [x, y) that it sees.
  sight: vec2i,
  // lse·log₂e and δ.
  statistics: vec2f,
}

// Row i (token, query head of the share) from the first token on; none from \`work.rows\` on.
fn row_of(work: Work, i: u32) -> Row {
  var row = Row(NONE, vec2i(), vec2f());
  if (i >= work.rows) { return row; }
  let token = work.firstToken + i / work.heads;
  let position = position_of(token);
  row.place = token * p.H + work.firstHead + i % work.heads;
  row.sight = vec2i(0, select(0x7fffffff, position + 1, p.causal != 0u));
  if (p.window > 0u) { row.sight.x = max(position - i32(p.window), 0); }
  row.statistics = vec2f(get_statistics(2u * row.place), get_statistics(2u * row.place + 1u));
  return row;
}
`;
