/** Changes to a scene that are easy to see once one looks at the right place. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import { type Arrangement, GAP } from './arrange.ts';
import { drawPlace, overlaps } from './place.ts';
import { itemBox, type SceneItem } from './scene.ts';

/** The kinds of change to an item, in the words of an answer. */
export const changeKinds = ['moved', 'removed', 'recolored', 'rotated'] as const;

/** A kind of change to an item. */
export type ChangeKind = (typeof changeKinds)[number];

/** One change. */
export interface Change {
  readonly kind: ChangeKind;
  /** The name of the thing that the item shows. */
  readonly name: string;
  /** Where it is before and, unless it is removed, after; pixels. */
  readonly before: Box;
  readonly after?: Box;
}

/** Turn of the hue of a recolored item in degrees; the stored pictograms were measured with it. */
const HUE = 150;

/**
 * Changes as many items as there are kinds, each another one.
 *
 * @returns undefined where an item cannot be changed so, or two would overlap
 */
export function changeItems(
  items: readonly SceneItem[],
  kinds: readonly ChangeKind[],
  { width, height }: Arrangement,
  random: Random,
): { readonly items: readonly SceneItem[]; readonly changes: readonly Change[] } | undefined {
  const free = random.shuffle(items);
  const replaced = new Map<SceneItem, SceneItem | undefined>();
  const changes: Change[] = [];
  for (const kind of kinds) {
    const item = free.find((each) => !replaced.has(each) && canBe(kind, each));
    if (item === undefined) return undefined;
    const taken = [...items, ...replaced.values()].flatMap((each) =>
      each === undefined ? [] : [itemBox(each)],
    );
    const place = drawPlace([width, height], item.size, taken, GAP, random);
    if (place === undefined) return undefined;
    const [x, y] = place;
    const turn = random.pick([90, 180, 270] as const);
    const now = {
      moved: { ...item, x, y },
      removed: undefined,
      recolored: { ...item, hue: HUE },
      rotated: { ...item, turn },
    }[kind];
    replaced.set(item, now);
    const after = now === undefined ? {} : { after: itemBox(now) };
    changes.push({ kind, name: item.pictogram.name, before: itemBox(item), ...after });
  }
  const after = items.flatMap((item) => {
    const now = replaced.has(item) ? replaced.get(item) : item;
    return now === undefined ? [] : [now];
  });
  const boxes = after.map(itemBox);
  const isInside = (box: Box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height;
  const isClear = boxes.every(
    (box, index) => isInside(box) && boxes.slice(index + 1).every((other) => !overlaps(box, other)),
  );
  return isClear ? { items: after, changes } : undefined;
}

function canBe(kind: ChangeKind, { pictogram }: SceneItem): boolean {
  if (kind === 'recolored') return pictogram.isColorful;
  return kind !== 'rotated' || pictogram.isTurnable;
}
