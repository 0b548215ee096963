/** More workgroups than one axis takes, folded into a second one. */
import type { KernelLimits } from '../kernel.ts';

export interface FoldedGroups {
  readonly workgroups: readonly [number, number, number];
  /** Workgroups along x: workgroup (x, y) is number y · across + x. Some numbers pass the count. */
  readonly across: number;
}

export function foldGroups(count: number, limits: KernelLimits): FoldedGroups {
  const across = Math.max(1, Math.min(count, limits.workgroupsPerAxis));
  return { workgroups: [count === 0 ? 0 : across, Math.ceil(count / across), 1], across };
}
