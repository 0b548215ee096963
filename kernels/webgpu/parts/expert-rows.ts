/**
 * Rows listed by expert, in the order in which they stand: plan = the rows, then at R + e the place of
 * the first row of expert e, and at R + E how many are listed.
 *
 * A workgroup owns an expert. It counts the rows of the experts before, then walks all rows 64 at a
 * time; a row's place is the number of its expert's rows before it, counted in a mask of bits.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';
import { operand } from './operands.ts';
import type { Piece } from './slices.ts';

const THREADS = 64;

const listShader = shader({
  name: 'list rows by expert',
  arrays: { experts: 'read i32', plan: 'write i32' },
  numbers: { R: 'u32', E: 'u32', firstRow: 'u32', across: 'u32' },
  threads: [THREADS, 1, 1],
  failures: ['experts[{index}] is {value}; expected at least 0 and below {E}. Check the indices.'],
  body: `
var<workgroup> below: atomic<u32>;
var<workgroup> matches: array<atomic<u32>, 2>;

fn main(at: Place, group: vec3<u32>) {
  let expert = i32(group.y * p.across + group.x);
  if (expert >= i32(p.E)) { return; }
  if (at.index == 0u) { atomicStore(&below, 0u); }
  workgroupBarrier();
  var before = 0u;
  for (var r = at.index; r < p.R; r += ${THREADS}u) {
    let other = get_experts(r);
    if (expert == 0 && (other < 0 || other >= i32(p.E))) { fail(0u, p.firstRow + r, other); }
    before += select(0u, 1u, other >= 0 && other < expert);
  }
  atomicAdd(&below, before);
  workgroupBarrier();
  var place = atomicLoad(&below);
  if (at.index == 0u) { put_plan(p.R + u32(expert), i32(place)); }
  for (var start = 0u; start < p.R; start += ${THREADS}u) {
    if (at.index < 2u) { atomicStore(&matches[at.index], 0u); }
    workgroupBarrier();
    let r = start + at.index;
    let isOwn = r < p.R && get_experts(min(r, p.R - 1u)) == expert;
    let bit = at.index & 31u;
    if (isOwn) { atomicOr(&matches[at.index >> 5u], 1u << bit); }
    workgroupBarrier();
    let low = atomicLoad(&matches[0]);
    let high = atomicLoad(&matches[1]);
    if (isOwn) {
      let lower = (1u << bit) - 1u;
      let rank = select(
        countOneBits(low & lower),
        countOneBits(low) + countOneBits(high & lower),
        at.index >= 32u);
      put_plan(place + rank, i32(r));
    }
    place += countOneBits(low) + countOneBits(high);
    workgroupBarrier();
  }
  if (at.index == 0u && expert == i32(p.E) - 1) { put_plan(p.R + p.E, i32(place)); }
}`,
});

/** WGSL of `places_of(expert) -> vec2<u32>`, where its rows are listed, and `row_at(place)`. */
export const expertReader = `
fn places_of(expert: u32) -> vec2<u32> {
  return vec2<u32>(u32(get_plan(p.R + expert)), u32(get_plan(p.R + expert + 1u)));
}

fn row_at(place: u32) -> u32 { return u32(get_plan(min(place, p.R - 1u))); }
`;

export interface ExpertRows extends Piece {
  readonly plan: GpuArray;
  readonly passes: readonly Pass[];
}

/** The rows [start, end) of a launch's \`experts\`, counted from start in the plan. */
export function listRows(call: KernelCall, { start, end }: Piece): ExpertRows {
  const { E } = call.dims;
  const R = end - start;
  const plan = call.scratch('i32', R + E + 1);
  const { workgroups, across } = foldGroups(E, call.limits);
  const pass: Pass = {
    shader: listShader,
    arrays: { experts: operand(call, 'experts').slice(start, end), plan },
    numbers: { R, E, firstRow: start, across },
    workgroups,
  };
  return { start, end, plan, passes: [pass] };
}
