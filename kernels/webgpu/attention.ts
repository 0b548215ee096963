/**
 * out = softmax(scale·q·kᵀ + mask)·v over a forest of segments, never holding a T × T array.
 *
 * Layout: q, out [T,H,D]; k, v [T,G,D]; segments [S,3]; lse [H,T]. The H/G query heads that share a
 * key head are rows (token, head) of one list, so that their keys are staged once.
 * A workgroup owns 64 rows of one segment and key head and walks the blocks of 32 logical keys on
 * their path (parts/attend.ts), the tiles that see most first. Segments lie on the device, so the
 * grid is the most tiles there can be and each finds its segment (parts/forest.ts). Where threads run on
 * a CPU, tiles and blocks are the same, and their products those of parts/quads.ts.
 */
import { attentionBackward } from './attention-backward.ts';
import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { type AttendSource, attendShader, attendSlices, expectHeads } from './parts/attend.ts';
import { quadAttendShader } from './parts/attend-quads.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { planForest } from './parts/forest.ts';
import { slicedArrays } from './parts/heads.ts';
import { operand } from './parts/operands.ts';
import { QUAD_ROWS, quadSlices } from './parts/quads.ts';
import { ROW_NUMBERS, rowNumbers, rowWork } from './parts/row-work.ts';
import { bytesOfStored, pieces, rowsPerBinding, slicesOf } from './parts/slices.ts';
import { hasQuads, KEYS, queryTile } from './parts/tiles.ts';

const sourceOf = (rows: number): AttendSource => ({
  name: 'attention',
  arrays: { plan: 'read i32 vec4' },
  numbers: ROW_NUMBERS,
  functions: rowWork(rows),
  cursor: 'let keys = sight_of(work, work.rows - 1u).y;',
  findKey: 'key = key_at(work, position, keys);',
});

function forward(call: KernelCall): readonly Pass[] {
  const { T, H, G, D } = call.dims;
  if (T === 0) return [];
  expectHeads(D);
  const q = operand(call, 'q');
  const k = operand(call, 'k');
  const v = operand(call, 'v');
  const out = operand(call, 'out');
  const lse = operand(call, 'lse');
  const shape = queryTile(call.limits);
  const isQuad = hasQuads(call.limits);
  const rowsPerTile = isQuad ? QUAD_ROWS : shape.rows;
  const source = sourceOf(rowsPerTile);
  const forest = planForest(call, {
    rowsPerTile,
    keysPerTile: KEYS,
    hasPositions: false,
  });
  const slices = isQuad ? quadSlices(D).slices : attendSlices(shape, D);
  // All arrays of a pass but q, out, lse and the plan may be slices.
  const most = Math.floor((call.limits.arraysPerPass - 4) / 2);
  const { each, arrays: keys } = slicesOf(call, k, T, G * D, most);
  const { arrays: values } = slicesOf(call, v, T, G * D, most);
  const groups = foldGroups(forest.rowTiles, call.limits);
  const [x, y] = groups.workgroups;
  return [
    ...forest.passes,
    ...pieces(T, rowsPerBinding(call, bytesOfStored(call) * H * D, 1)).map(({ start, end }) => {
      const rows = {
        q: q.slice(start * H * D, end * H * D),
        out: out.slice(start * H * D, end * H * D),
      };
      return {
        shader: isQuad
          ? quadAttendShader({ source, D, ...rows, k: keys, v: values })
          : attendShader({ source, shape, D, ...rows, k: keys, v: values }),
        arrays: {
          ...rows,
          ...slicedArrays('k', keys),
          ...slicedArrays('v', values),
          lse,
          plan: forest.plan,
        },
        numbers: {
          ...rowNumbers(call),
          rowsPerHead: T,
          across: groups.across,
          slices,
          firstHead: start * H,
          endHead: end * H,
          headsEach: each * G,
        },
        workgroups: [x, y, G * slices] as const,
      };
    }),
  ];
}

export const attention: WebGpuKernel = {
  op: 'attention',
  signature:
    "q[T,H,D]' k[T,G,D]' v[T,G,D]' segments[S,P]# -> out[T,H,D]' lse[H,T]'! ; scale causal window",
  forward,
  backward: attentionBackward,
};
