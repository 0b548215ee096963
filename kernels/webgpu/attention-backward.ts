/**
 * The gradients of attention over a forest, with the scores recomputed:
 *
 *   δ = Σ_d ∂out∘out − ∂lse     p = 2^(s − lse·log₂e)     ∂s = p∘(∂out·vᵀ − δ)
 *   ∂q = scale·∂s·k       ∂k = scale·∂sᵀ·q       ∂v = pᵀ·∂out
 *
 * Dao 2023, arXiv:2307.08691, algorithm 2, in two kernels that each own what they write
 * (parts/query-gradients.ts, parts/key-gradients.ts), so that nothing is added atomically: seven
 * products in place of five. Keys of a shared prefix collect from all that continue it, in the
 * order in which that is packed.
 *
 * Layout: as in attention.ts; lse·log₂e and δ of each row (token, head) side by side in scratch
 * memory, made first by a thread a row. It adds δ along the head as the products add ∂out·vᵀ: where
 * one key has all the weight, their difference is 0 and not the rounding of two orders.
 */

import type { GpuArray, KernelCall, Pass } from './kernel.ts';
import { expectHeads, headScale } from './parts/attend.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { planForest } from './parts/forest.ts';
import {
  groupingKey,
  HEAD_NUMBERS,
  headNumbers,
  headReader,
  headUse,
  slicedArrays,
} from './parts/heads.ts';
import { keyGradientPasses } from './parts/key-gradient-passes.ts';
import { operand } from './parts/operands.ts';
import { QUAD_ROWS, quadSlices } from './parts/quads.ts';
import { queryGradientShader, querySlices } from './parts/query-gradients.ts';
import { quadQueryGradientShader } from './parts/query-gradients-quads.ts';
import { rowNumbers } from './parts/row-work.ts';
import { bytesOfStored, type Piece, pieces, rowsPerBinding, slicesOf } from './parts/slices.ts';
import { hasQuads, keyTile, queryTile } from './parts/tiles.ts';
import { variants } from './parts/variants.ts';
import { zeroAll } from './parts/zero.ts';
import { type ArrayUse, type Shader, shader } from './shader.ts';

const ROWS = 64;

interface StatisticsOptions {
  readonly D: number;
  readonly out: GpuArray;
  readonly dOut: GpuArray | undefined;
  readonly dLse: GpuArray | undefined;
}

/** A row that saw nothing gets an lse of 0: it has no score to take it from. */
function makeStatistics({ D, out, dOut, dLse }: StatisticsOptions): Shader {
  const heads: Record<string, ArrayUse> =
    dOut === undefined ? {} : { out: headUse('read', out, D), dOut: headUse('read', dOut, D) };
  const dot = `
    for (var c = 0u; c < p.groups; c++) {
      let a = head_out(bound, c);
      let b = head_dOut(bound, c);
      delta = fma(a.x, b.x, delta);
      delta = fma(a.y, b.y, delta);
      delta = fma(a.z, b.z, delta);
      delta = fma(a.w, b.w, delta);
    }`;
  return shader({
    name: 'attention: statistics of rows',
    arrays: {
      ...heads,
      ...(dLse === undefined ? {} : { dLse: 'read f32' }),
      lse: 'read u32',
      statistics: 'write f32',
    },
    numbers: {
      ...HEAD_NUMBERS,
      T: 'u32',
      H: 'u32',
      firstHead: 'u32',
      endHead: 'u32',
      across: 'u32',
    },
    threads: [ROWS, 1, 1],
    body: `
${dOut === undefined ? '' : headReader('out', out, D) + headReader('dOut', dOut, D)}

fn main(at: Place) {
  let bound = (at.group.x + at.group.y * p.across) * ${ROWS}u + at.index;
  let row = p.firstHead + bound;
  if (row >= p.endHead) { return; }
  var delta = 0.0;
  ${dOut === undefined ? '' : dot}
  let place = row % p.H * p.T + row / p.H;
  let bits = get_lse(place);
  put_statistics(2u * row, select(bitcast<f32>(bits) * ${Math.LOG2E}, 0.0, bits == 0xff800000u));
  put_statistics(2u * row + 1u, delta - ${dLse === undefined ? '0.0' : 'get_dLse(place)'});
}`,
  });
}

const statisticsShader = variants(
  ({ D, out, dOut, dLse }: StatisticsOptions) =>
    groupingKey([dOut === undefined ? undefined : out, dOut, dLse], D),
  makeStatistics,
);

export function attentionBackward(call: KernelCall): readonly Pass[] {
  const { T, H, G, D } = call.dims;
  if (T === 0) return [];
  expectHeads(D);
  const { dOut, dLse, dQ, dK, dV } = call.arrays;
  const isZero = dOut === undefined && dLse === undefined;
  const zeros = isZero ? [dQ, dK, dV] : dOut === undefined ? [dV] : [];
  const passes: Pass[] = zeros.flatMap((array) => zeroAll(call, array));
  const wantsKeys = dK !== undefined || (dV !== undefined && dOut !== undefined);
  if (isZero || (dQ === undefined && !wantsKeys)) return passes;

  const q = operand(call, 'q');
  const k = operand(call, 'k');
  const v = operand(call, 'v');
  const out = operand(call, 'out');
  const shape = queryTile(call.limits);
  const isQuad = hasQuads(call.limits);
  const forest = planForest(call, {
    rowsPerTile: isQuad ? QUAD_ROWS : shape.rows,
    keysPerTile: isQuad ? QUAD_ROWS : keyTile(call.limits).rows,
    hasPositions: wantsKeys,
  });
  const statistics = call.scratch('f32', 2 * T * H);
  const lse = operand(call, 'lse');
  // An array beyond the binding limit goes in slices of whole tokens.
  const slices = pieces(T, rowsPerBinding(call, bytesOfStored(call) * H * D, 1));
  const rowsOf = (array: GpuArray, { start, end }: Piece): GpuArray =>
    array.slice(start * H * D, end * H * D);
  const numbers = {
    ...rowNumbers(call),
    headScale: headScale(call.scalars.scale, D),
    hasUpstream: dOut === undefined ? 0 : 1,
  };
  passes.push(...forest.passes);
  for (const slice of slices) {
    const bound = foldGroups(Math.ceil(((slice.end - slice.start) * H) / ROWS), call.limits);
    const own = dOut && { out: rowsOf(out, slice), dOut: rowsOf(dOut, slice) };
    passes.push({
      shader: statisticsShader({ D, out: own?.out ?? out, dOut: own?.dOut, dLse }),
      arrays: { ...own, ...(dLse && { dLse }), lse, statistics },
      numbers: { ...headNumbers(D), T, H, ...headsOf(slice, H), across: bound.across },
      workgroups: bound.workgroups,
    });
  }
  if (dQ !== undefined) {
    const outputs = isQuad ? quadSlices(D).slices : querySlices(shape, D);
    const groups = foldGroups(forest.rowTiles, call.limits);
    const [x, y] = groups.workgroups;
    // All arrays of a pass but q, dOut, dQ, the statistics and the plan may be slices.
    const most = Math.floor((call.limits.arraysPerPass - 5) / 2);
    const keys = slicesOf(call, k, T, G * D, most);
    const values = slicesOf(call, v, T, G * D, most);
    for (const slice of slices) {
      const rows = {
        q: rowsOf(q, slice),
        dOut: rowsOf(dOut ?? q, slice),
        dQ: rowsOf(dQ, slice),
      };
      const options = { D, ...rows, k: keys.arrays, v: values.arrays };
      passes.push({
        shader: isQuad
          ? quadQueryGradientShader(options)
          : queryGradientShader({ shape, ...options }),
        arrays: {
          ...rows,
          ...slicedArrays('k', keys.arrays),
          ...slicedArrays('v', values.arrays),
          statistics,
          plan: forest.plan,
        },
        numbers: {
          ...numbers,
          ...headsOf(slice, H),
          headsEach: keys.each * G,
          across: groups.across,
          slices: outputs,
        },
        workgroups: [x, y, G * outputs],
      });
    }
  }
  if (wantsKeys) {
    const wanted = { dK, dV: dOut === undefined ? undefined : dV };
    const shared = { q, k, v, dOut: dOut ?? q, statistics, plan: forest.plan };
    passes.push(...keyGradientPasses(call, shared, wanted, slices, forest.keyTiles, numbers));
  }
  return passes;
}

const headsOf = ({ start, end }: Piece, H: number): { firstHead: number; endHead: number } => ({
  firstHead: start * H,
  endHead: end * H,
});
