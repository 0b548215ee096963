/** Watches for interaction collapse: a policy that stops using its tools while it is trained. */

import type { RlSettings } from './settings/rl.ts';

/** The observations so far; give them back with the next step. */
export interface CollapseWatch {
  /** Mean tool calls per trajectory of the first steps. */
  readonly first: readonly number[];
  /** The same for the latest of the steps after them. */
  readonly latest: readonly number[];
  readonly hasWarned: boolean;
}

export const freshWatch: CollapseWatch = { first: [], latest: [], hasWarned: false };

/**
 * Notes the mean number of tool calls per trajectory of a step. PyVision-RL, arXiv:2602.20739, calls
 * it collapse when training drives tool use out; where tasks need no tools, fewer calls may be right.
 *
 * @returns the watch from here on, and a warning the first time that the mean of `collapseSteps` steps
 *   lies below `collapseShare` of that of the first ones
 */
export function watchCollapse(
  watch: CollapseWatch,
  toolCalls: number,
  { collapseSteps, collapseShare }: Pick<RlSettings, 'collapseSteps' | 'collapseShare'>,
): readonly [CollapseWatch, string | undefined] {
  if (watch.first.length < collapseSteps) {
    return [{ ...watch, first: [...watch.first, toolCalls] }, undefined];
  }
  const latest = [...watch.latest, toolCalls].slice(-collapseSteps);
  const [before, now] = [watch.first, latest].map(
    (calls) => calls.reduce((sum, one) => sum + one, 0) / collapseSteps,
  ) as [number, number];
  const isCollapsed = latest.length === collapseSteps && now < collapseShare * before;
  if (!isCollapsed || watch.hasWarned) return [{ ...watch, latest }, undefined];
  const message =
    `Tool calls fell from ${before.toFixed(2)} to ${now.toFixed(2)} per trajectory. If the tasks ` +
    'need tools, the policy has stopped looking: raise the reward for tool use, or look at ' +
    'tool_calls/mean in the report.';
  return [{ ...watch, latest, hasWarned: true }, message];
}
