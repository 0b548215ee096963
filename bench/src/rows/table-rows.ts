/** The rows of the table by the name of their set. */
import { ConfigError } from '@saccade/core';
import type { GroupShape } from '../group-packing.ts';
import { publishedSizes } from '../published-sizes.ts';
import { HEADLINE_GROUP, headlineRows } from './headline.ts';
import { LAYER_SHAPE, layerRows } from './layers.ts';
import type { TableRow } from './table-row.ts';
import { visionRows } from './vision.ts';

/** What a table is made of. */
export interface TableSet {
  readonly about: string;
  readonly rows: () => readonly TableRow[];
  /** Groups with their prompt packed once, beside the repeated one. */
  readonly groups: readonly GroupShape[];
}

const layers = [...publishedSizes].map(([name, sizes]): [string, TableSet] => {
  const model = name.toUpperCase();
  const about = `a layer and the head of Qwen2.5-VL-${model}`;
  return [name, { about, rows: () => layerRows(model, sizes, LAYER_SHAPE), groups: [] }];
});

const GROUPS = [1, 2, 4, 8, 16, 32];

/** The sets by name; the first is the default. */
export const tableSets: ReadonlyMap<string, TableSet> = new Map<string, TableSet>([
  ['headline', { about: 'the few that decide', rows: headlineRows, groups: [HEADLINE_GROUP] }],
  ...layers,
  ['vision', { about: 'a block of their vision tower', rows: () => visionRows(4096), groups: [] }],
  [
    'groups',
    {
      about: 'groups of 1 to 32 with heads of the 3B model',
      rows: () => [],
      groups: GROUPS.map((group) => ({
        prefix: 512,
        response: 128,
        group,
        heads: { H: 16, G: 2, D: 128 },
      })),
    },
  ],
]);

export const titleOfGroup = ({ prefix, response, group, heads }: GroupShape): string => {
  const { H, G, D } = heads;
  const kv = H === G ? '' : ` Hkv${G}`;
  return `shared prefix, P${prefix} R${response} G${group} H${H}${kv} D${D}`;
};

/** @throws ConfigError for a name that no set has */
export function setsOf(names: readonly string[]): readonly TableSet[] {
  return names.map((name) => {
    const set = tableSets.get(name);
    if (set !== undefined) return set;
    const known = [...tableSets.keys()].join(', ');
    throw new ConfigError('rows', `There are no rows "${name}". Pass some of: ${known}.`);
  });
}
