/**
 * WGSL of `workgroup_sum(value, index)`: the sum over a workgroup, for all of its threads, as a tree
 * in workgroup memory. Not by subgroups: their size, and with it the order of the sum, may differ
 * from shader to shader on one device.
 *
 * @param threads  of the workgroup, a power of two
 */
export const workgroupSum = (threads: number): string => `
var<workgroup> summands: array<f32, ${threads}>;

fn workgroup_sum(value: f32, index: u32) -> f32 {
  // Those who read the sum before are done with it.
  workgroupBarrier();
  summands[index] = value;
  workgroupBarrier();
  for (var span = ${threads / 2}u; span > 0u; span >>= 1u) {
    if (index < span) { summands[index] += summands[index + span]; }
    workgroupBarrier();
  }
  return summands[0];
}`;
