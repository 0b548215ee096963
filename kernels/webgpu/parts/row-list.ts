/**
 * The rows of a block that have a target: only they are computed, on tiles without gaps.
 *
 * list = the rows that count, in order, then their targets from place N on, then at place 2N how
 * many they are. One workgroup; a thread owns a stretch of rows.
 */
import { type Shader, shader } from '../shader.ts';

const THREADS = 128;

export interface RowListOptions {
  /** More arrays, and statements for each row: `n` of the row, `place` in the list if `isKept`. */
  readonly arrays: Shader['arrays'];
  readonly numbers: Shader['numbers'];
  readonly forRow: string;
}

/** The shader that makes the list from `targets`, N of them. Runs as one workgroup. */
export function rowListShader({ arrays, numbers, forRow }: RowListOptions): Shader {
  return shader({
    name: 'rows with a target',
    arrays: { targets: 'read i32', list: 'write i32', ...arrays },
    numbers: { N: 'u32', V: 'u32', firstRow: 'u32', ...numbers },
    threads: [THREADS, 1, 1],
    failures: [
      'targets[{index}] is {value}; expected at least -1 and below {V}. Check the indices.',
    ],
    body: `
var<workgroup> counts: array<u32, ${THREADS}>;

fn has_target(n: u32) -> bool {
  let wanted = get_targets(n);
  return wanted >= 0 && wanted < i32(p.V);
}

fn main(at: Place) {
  let each = (p.N + ${THREADS - 1}u) / ${THREADS}u;
  let first = min(at.index * each, p.N);
  let end = min(first + each, p.N);
  var own = 0u;
  for (var n = first; n < end; n++) {
    let wanted = get_targets(n);
    if (wanted < -1 || wanted >= i32(p.V)) { fail(0, p.firstRow + n, wanted); }
    own += select(0u, 1u, has_target(n));
  }
  counts[at.index] = own;
  workgroupBarrier();
  var place = 0u;
  for (var i = 0u; i < at.index; i++) { place += counts[i]; }
  if (at.index == ${THREADS - 1}u) { put_list(2u * p.N, i32(place + own)); }
  for (var n = first; n < end; n++) {
    let isKept = has_target(n);
    ${forRow}
    if (!isKept) { continue; }
    put_list(place, i32(n));
    put_list(p.N + place, get_targets(n));
    place++;
  }
}`,
  });
}
