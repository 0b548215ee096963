import { describe, expect, it } from 'vitest';
import { freshWatch, watchCollapse } from './collapse-watch.ts';

const published = { collapseSteps: 3, collapseShare: 0.25 };

/** The steps, by index, at which a warning came. */
function warnings(
  calls: readonly number[],
  changes: Partial<typeof published> = {},
): readonly (readonly [number, string])[] {
  const settings = { ...published, ...changes };
  let watch = freshWatch;
  return calls.flatMap((mean, step) => {
    const [next, message] = watchCollapse(watch, mean, settings);
    watch = next;
    return message === undefined ? [] : [[step, message] as const];
  });
}

describe('the watch for interaction collapse', () => {
  it('warns once when three steps lie below a quarter of the first three', () => {
    const found = warnings([2, 2.2, 1.8, 1.5, 0.4, 0.2, 0.1, 0, 0, 0]);
    expect(found.map(([step]) => step)).toEqual([6]);
    expect(found[0]?.[1]).toMatch(/^Tool calls fell from 2\.00 to 0\.23 per trajectory\./);
  });

  it('compares as many steps as it is told, and never where the share is 0', () => {
    expect(warnings([2, 0.1], { collapseSteps: 1 }).map(([step]) => step)).toEqual([1]);
    expect(warnings([2, 2, 2, 1, 1, 1], { collapseShare: 0.6 })).toHaveLength(1);
    expect(warnings([2, 2, 2, 0, 0, 0], { collapseShare: 0 })).toEqual([]);
  });

  it('is silent where use grows, dips for a step, or was never there', () => {
    expect(warnings([0.5, 0.6, 0.7, 1, 1.5, 2])).toEqual([]);
    expect(warnings([2, 2, 2, 0, 2, 2, 0, 2, 2])).toEqual([]);
    expect(warnings([0, 0, 0, 0, 0, 0, 0])).toEqual([]);
    expect(warnings([2, 2, 2, 0, 0])).toEqual([]);
  });
});
