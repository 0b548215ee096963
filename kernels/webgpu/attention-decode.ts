/**
 * Attention of one new token per row over the key/value cache, each row over its own list of spans.
 *
 * Layout: q, out [N,H,D]; caches [C,G,D]; spans [R,2] of slots; row n has the spans from
 * spanOffsets[n] to spanOffsets[n+1], in logical order; lse [H,N].
 * A workgroup owns up to 16 query heads of one row and key head, and walks the
 * row's blocks with the code of training (parts/attend.ts): the same chains, so the same bits.
 * Rows of a group meet the slots of their prompt at about the same time, which caches see to.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import {
  type AttendSource,
  attendShader,
  attendSlices,
  checkedWindow,
  expectHeads,
  headScale,
} from './parts/attend.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { headNumbers, slicedArrays } from './parts/heads.ts';
import { operand } from './parts/operands.ts';
import { bytesOfStored, pieces, rowsPerBinding, slicesOf } from './parts/slices.ts';
import type { TileShape } from './parts/tile-product.ts';
import { decodingTile, KEYS } from './parts/tiles.ts';
import { shader } from './shader.ts';

const check = shader({
  name: 'attentionDecode: spans',
  arrays: { spans: 'read i32', spanOffsets: 'read i32' },
  numbers: { N: 'u32', C: 'u32', R: 'u32', across: 'u32' },
  threads: [64, 1, 1],
  failures: [
    'span {index} starts at {value}, expected slots of a cache of {C} and an end not before it. ' +
      'Give spans as start and end.',
    'span {index} ends at {value}, expected slots of a cache of {C}. Give spans as start and end.',
    'spanOffsets[{index}] is {value}; offsets must not fall and not pass {R}. ' +
      'Give where the spans of each row begin, and their count at the end.',
  ],
  body: `
fn main(at: Place) {
  let i = (at.group.x + at.group.y * p.across) * 64u + at.index;
  if (i < p.R) {
    let start = get_spans(2u * i);
    let end = get_spans(2u * i + 1u);
    if (start < 0 || end < start) { fail(0, i, start); }
    else if (end > i32(p.C)) { fail(1, i, end); }
  }
  if (i <= p.N) {
    let offset = get_spanOffsets(i);
    var before = 0;
    if (i > 0u) { before = get_spanOffsets(i - 1u); }
    if (offset < before || offset > i32(p.R)) { fail(2, i, offset); }
  }
}`,
});

const sourceOf = ({ rows }: TileShape): AttendSource => ({
  name: 'attentionDecode',
  arrays: { spans: 'read i32', spanOffsets: 'read i32' },
  numbers: {
    C: 'u32',
    G: 'u32',
    N: 'u32',
    R: 'u32',
    across: 'u32',
    chunks: 'u32',
    ratio: 'u32',
    window: 'u32',
  },
  functions: `
struct Work {
  n: u32,
  head: u32,
  // Rows of the query heads that share the key head.
  first: u32,
  rows: u32,
  keys: i32,
  run: u32,
  fromBlock: u32,
  endBlock: u32,
}

// Slots [x, y), within the cache whatever the span says.
fn span_of(run: u32) -> vec2i {
  let start = clamp(get_spans(2u * run), 0, i32(p.C));
  return vec2i(start, clamp(get_spans(2u * run + 1u), start, i32(p.C)));
}
fn offset_of(n: u32) -> u32 { return u32(clamp(get_spanOffsets(n), 0, i32(p.R))); }

fn sight_of(work: Work, row: u32) -> vec2i {
  var sight = vec2i(0, work.keys);
  if (p.window > 0u) { sight.x = max(work.keys - 1 - i32(p.window), 0); }
  return sight;
}

fn row_at(work: Work, row: u32) -> u32 {
  return work.n * p.H + work.head * p.ratio + work.first + row;
}

fn find_work(at: Place) -> Work {
  var work = Work();
  work.n = at.group.x + at.group.y * p.across;
  if (work.n >= p.N) { return work; }
  let item = at.group.z / p.slices;
  work.head = item / p.chunks;
  work.first = item % p.chunks * ${rows}u;
  work.rows = min(${rows}u, p.ratio - work.first);
  work.run = offset_of(work.n);
  let end = offset_of(work.n + 1u);
  for (var run = work.run; run < end; run++) {
    let span = span_of(run);
    work.keys += span.y - span.x;
  }
  work.fromBlock = u32(sight_of(work, 0u).x) / ${KEYS}u;
  work.endBlock = (u32(work.keys) + ${KEYS - 1}u) / ${KEYS}u;
  return work;
}
`,
  cursor: `
  var run = work.run;
  var before = 0;
  var span = vec2i();
  if (work.keys > 0) { span = span_of(run); }`,
  findKey: `
      if (position < work.keys) {
        while (position >= before + span.y - span.x) {
          before += span.y - span.x;
          run++;
          span = span_of(run);
        }
        key = u32(span.x + position - before) * p.G + work.head;
      }`,
});

function forward(call: KernelCall): readonly Pass[] {
  const { N, H, G, D, C, R } = call.dims;
  if (N === 0) return [];
  expectHeads(D);
  const { scale, window } = call.scalars;
  const q = operand(call, 'q');
  const k = operand(call, 'kCache');
  const v = operand(call, 'vCache');
  const out = operand(call, 'out');
  const lse = operand(call, 'lse');
  const spans = operand(call, 'spans');
  const spanOffsets = operand(call, 'spanOffsets');
  const shape = decodingTile(H / G, call.limits);
  const source = sourceOf(shape);
  const slices = attendSlices(shape, D);
  // All arrays of a pass but q, out, lse, the spans and their starts may be slices.
  const most = Math.floor((call.limits.arraysPerPass - 5) / 2);
  const { each, arrays: keys } = slicesOf(call, k, C, G * D, most);
  const { arrays: values } = slicesOf(call, v, C, G * D, most);
  const chunks = Math.ceil(H / G / shape.rows);
  const checks = foldGroups(Math.ceil(Math.max(N + 1, R) / 64), call.limits);
  const groups = foldGroups(N, call.limits);
  const [x, y] = groups.workgroups;
  return [
    {
      shader: check,
      arrays: { spans, spanOffsets },
      numbers: { N, C, R, across: checks.across },
      workgroups: checks.workgroups,
    },
    ...pieces(N, rowsPerBinding(call, bytesOfStored(call) * H * D, 1)).map(({ start, end }) => {
      const rows = {
        q: q.slice(start * H * D, end * H * D),
        out: out.slice(start * H * D, end * H * D),
      };
      return {
        shader: attendShader({ source, shape, D, ...rows, k: keys, v: values }),
        arrays: {
          ...rows,
          ...slicedArrays('k', keys),
          ...slicedArrays('v', values),
          lse,
          spans,
          spanOffsets,
        },
        numbers: {
          ...headNumbers(D),
          H,
          G,
          N,
          C,
          R,
          rowsPerHead: N,
          ratio: H / G,
          scale: headScale(scale, D) * Math.LOG2E,
          window: checkedWindow(window),
          across: groups.across,
          chunks,
          slices,
          firstHead: start * H,
          endHead: end * H,
          headsEach: each * G,
        },
        workgroups: [x, y, G * chunks * slices] as const,
      };
    }),
  ];
}

export const attentionDecode: WebGpuKernel = {
  op: 'attentionDecode',
  signature:
    'q[N,H,D] kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> ' +
    'out[N,H,D] lse[H,N]! ; scale window',
  forward,
};
