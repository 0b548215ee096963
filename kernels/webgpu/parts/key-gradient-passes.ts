/**
 * ∂k and ∂v of all keys: which slices of rows and keys meet in which pass of key-gradients.ts, and how
 * many workgroups share the query heads of a key head.
 *
 * Few key heads would leave a large device idle while the first keys of a prompt meet everything
 * behind them, so the query heads of one are dealt to up to 4 workgroups, whose parts are added up
 * in order afterwards.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';
import { keyGradientShader, keySlices } from './key-gradients.ts';
import { quadKeyGradientShader } from './key-gradients-quads.ts';
import { quadSlices } from './quads.ts';
import { bytesOfStored, type Piece, pieces, rowsPerBinding } from './slices.ts';
import { hasQuads, keyTile } from './tiles.ts';

const SHARES_MOST = 4;

const addShares = shader({
  name: 'attention: gradients of shares',
  arrays: { parts: 'read f32', gradient: 'write stored' },
  numbers: { count: 'u32', shares: 'u32', across: 'u32', factor: 'f32' },
  threads: [64, 1, 1],
  body: `
fn main(at: Place) {
  let i = (at.group.x + at.group.y * p.across) * 64u + at.index;
  if (i >= p.count) { return; }
  var sum = get_parts(i);
  for (var share = 1u; share < p.shares; share++) { sum += get_parts(share * p.count + i); }
  put_gradient(i, sum * p.factor);
}`,
});

export interface KeyGradientArrays {
  readonly q: GpuArray;
  readonly k: GpuArray;
  readonly v: GpuArray;
  readonly dOut: GpuArray;
  readonly statistics: GpuArray;
  readonly plan: GpuArray;
}

export interface WantedKeyGradients {
  readonly dK: GpuArray | undefined;
  readonly dV: GpuArray | undefined;
}

/**
 * The passes for up to `tiles` tiles of keys.
 *
 * @param rowSlices  tokens whose rows of q and ∂out one binding holds, in order
 * @param numbers    ROW_NUMBERS, headScale, hasUpstream
 */
export function keyGradientPasses(
  call: KernelCall,
  arrays: KeyGradientArrays,
  { dK, dV }: WantedKeyGradients,
  rowSlices: readonly Piece[],
  tiles: number,
  numbers: Readonly<Record<string, number>>,
): readonly Pass[] {
  const { T, H, G, D } = call.dims;
  const shares = Math.min(SHARES_MOST, H / G);
  const isPart = shares > 1 || rowSlices.length > 1;
  const width = G * D;
  const keysMost = rowsPerBinding(call, width * (isPart ? 4 * shares : bytesOfStored(call)), 1);
  const shape = keyTile(call.limits);
  const isQuad = hasQuads(call.limits);
  const slices = isQuad ? quadSlices(D).slices : keySlices(shape, D);
  const groups = foldGroups(tiles, call.limits);
  const [x, y] = groups.workgroups;
  const parts = (gradient: GpuArray | undefined): GpuArray => {
    if (gradient === undefined) return call.scratch(isPart ? 'f32' : call.storage, 4);
    return isPart ? call.scratch('f32', shares * Math.min(T, keysMost) * width) : gradient;
  };
  const sums = { dK: parts(dK), dV: parts(dV) };
  return pieces(T, keysMost).flatMap((keys) => {
    const ofKeys = (array: GpuArray): GpuArray => array.slice(keys.start * width, keys.end * width);
    const count = (keys.end - keys.start) * width;
    const target = (sum: GpuArray, gradient: GpuArray | undefined): GpuArray => {
      if (gradient === undefined) return sum;
      return isPart ? sum.slice(0, shares * count) : ofKeys(gradient);
    };
    const targets = { dK: target(sums.dK, dK), dV: target(sums.dV, dV) };
    const passes = rowSlices.map((rows, i): Pass => {
      const ofRows = (array: GpuArray): GpuArray =>
        array.slice(rows.start * H * D, rows.end * H * D);
      const bound = {
        q: ofRows(arrays.q),
        dOut: ofRows(arrays.dOut),
        k: ofKeys(arrays.k),
        v: ofKeys(arrays.v),
        ...targets,
      };
      const options = { D, isPart, adds: i > 0, ...bound };
      return {
        shader: isQuad ? quadKeyGradientShader(options) : keyGradientShader({ shape, ...options }),
        arrays: { ...bound, statistics: arrays.statistics, plan: arrays.plan },
        numbers: {
          ...numbers,
          slices,
          shares,
          across: groups.across,
          keyHeads: (keys.end - keys.start) * G,
          wantsKeys: dK === undefined ? 0 : 1,
          wantsValues: dV === undefined ? 0 : 1,
          firstKey: keys.start,
          endKey: keys.end,
          firstRow: rows.start,
          endRow: rows.end,
        },
        workgroups: [x, y, G * shares * slices],
      };
    });
    if (!isPart) return passes;
    return [
      ...passes,
      ...(dK === undefined
        ? []
        : [addPass(call, targets.dK, ofKeys(dK), shares, numbers.headScale ?? 1)]),
      ...(dV === undefined ? [] : [addPass(call, targets.dV, ofKeys(dV), shares, 1)]),
    ];
  });
}

/** The sum of all parts times the factor. */
function addPass(
  call: KernelCall,
  parts: GpuArray,
  gradient: GpuArray,
  shares: number,
  factor: number,
): Pass {
  const count = gradient.length;
  const { workgroups, across } = foldGroups(Math.ceil(count / 64), call.limits);
  return {
    shader: addShares,
    arrays: { parts, gradient },
    numbers: { count, shares, across, factor },
    workgroups,
  };
}
