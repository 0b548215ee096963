/** Watches for interaction collapse: a policy that stops using its tools while it is trained. */

/** Steps that the first and the latest mean are taken over. */
const WINDOW = 3;
/** Share of the first mean below which tool use counts as collapsed. */
const COLLAPSED = 0.25;

/** What is known so far; give it back with the next step. */
export interface CollapseWatch {
  /** Mean tool calls per trajectory of the first steps. */
  readonly first: readonly number[];
  /** Of the steps after them, the latest. */
  readonly latest: readonly number[];
  readonly hasWarned: boolean;
}

export const freshWatch: CollapseWatch = { first: [], latest: [], hasWarned: false };

/**
 * Notes the mean number of tool calls per trajectory of a step. PyVision-RL, arXiv:2602.20739, calls
 * it collapse when training drives tool use out; where tasks need no tools, fewer calls may be right.
 *
 * @returns the watch from here on, and a warning the first time that the mean of three steps lies
 *   below a quarter of the first three steps'
 */
export function watchCollapse(
  watch: CollapseWatch,
  toolCalls: number,
): readonly [CollapseWatch, string | undefined] {
  if (watch.first.length < WINDOW)
    return [{ ...watch, first: [...watch.first, toolCalls] }, undefined];
  const latest = [...watch.latest, toolCalls].slice(-WINDOW);
  const [before, now] = [watch.first, latest].map(
    (calls) => calls.reduce((sum, one) => sum + one, 0) / WINDOW,
  ) as [number, number];
  const isCollapsed = latest.length === WINDOW && now < COLLAPSED * before;
  if (!isCollapsed || watch.hasWarned) return [{ ...watch, latest }, undefined];
  const message =
    `Tool calls fell from ${before.toFixed(2)} to ${now.toFixed(2)} per trajectory. If the tasks ` +
    'need tools, the policy has stopped looking: raise the reward for tool use, or look at ' +
    'tool_calls/mean in the report.';
  return [{ ...watch, latest, hasWarned: true }, message];
}
