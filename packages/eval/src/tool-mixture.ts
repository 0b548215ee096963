/** What models do to images, by family of operation: the mixture of tools and how it changes. */
import type { OperationFamily } from '@saccade/code-effects';
import { messageOf } from '@saccade/core';
import type { RewardContext, ScoredGroupResult } from '@saccade/rewards';
import { isToolUse, type Trajectory } from '@saccade/trajectory';

/**
 * Operations of a trajectory by family, as PyVision's taxonomy counts them (arXiv:2507.07998, §4). A
 * turn whose code does nothing to an image is `no_operation`; a call of a tool that the analysis does
 * not follow is `tool_<name>`.
 */
export function countOperations(
  { turns }: Pick<Trajectory, 'turns'>,
  { toolUses }: Pick<RewardContext, 'toolUses'>,
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  const add = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const analyzed = new Map(toolUses.map((use) => [use.turn, use.operations]));
  for (const [index, { action }] of turns.entries()) {
    if (!isToolUse(action)) continue;
    const families: readonly OperationFamily[] = (analyzed.get(index) ?? [])
      .map(({ family }) => family)
      .filter((family) => family !== 'io');
    for (const family of families) add(family);
    if (families.length > 0) continue;
    add(action.kind === 'toolCall' ? `tool_${plainName(action.name)}` : 'no_operation');
  }
  return counts;
}

/** Characters of a tool's name that a category keeps; a model may call anything. */
const NAME_LENGTH = 40;

const plainName = (name: string): string =>
  name.replaceAll(/[^\w.-]+/g, '_').slice(0, NAME_LENGTH) || 'unnamed';

/**
 * `tools/<category>`: the share of all operations of a step in each category; nothing where there are
 * none. Metrics decide nothing, so what goes wrong is a warning and no error.
 */
export function toolMixture(
  results: readonly ScoredGroupResult[],
  onWarning: (message: string) => void,
): Readonly<Record<string, number>> {
  try {
    const counts: Record<string, number> = {};
    for (const { scored, contexts } of results) {
      for (const [index, trajectory] of scored.trajectories.entries()) {
        const context = contexts[index];
        if (context === undefined) continue;
        for (const [name, count] of Object.entries(countOperations(trajectory, context))) {
          counts[name] = (counts[name] ?? 0) + count;
        }
      }
    }
    return sharesOf(counts);
  } catch (error) {
    onWarning(`The mixture of tools could not be told: ${messageOf(error)}`);
    return {};
  }
}

function sharesOf(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const entries = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, count]) => [`tools/${name}`, count / all]));
}
