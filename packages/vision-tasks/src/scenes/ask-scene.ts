/** Questions about pictograms and signs on a photograph, each with its program and answer. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import type { Typeface } from '../rendering/typefaces.ts';
import { type Arrangement, arrange, GAP } from './arrange.ts';
import { optionsOf } from './options.ts';
import type { Pictogram } from './pictograms.ts';
import { drawPlace } from './place.ts';
import { itemBox, type SceneItem, type SceneSign, signBox } from './scene.ts';

/**
 * How the answer follows from what lies on the photograph:
 *
 * | operation    | answer                                                                     |
 * | ------------ | -------------------------------------------------------------------------- |
 * | `count`      | how many pictograms of `kind` there are                                    |
 * | `count-side` | how many of them are on a `side` of the only one of kind `of`: centers decide |
 * | `nearest`    | the kind whose center is nearest to that of the only one of kind `of`      |
 * | `sign`       | the text of the sign; the one nearest to the only one of kind `of` where there are several |
 */
export interface SceneProgram {
  readonly operation: SceneOperation;
  /** The kind that is counted. */
  readonly kind?: string;
  /** The kind of which there is one. */
  readonly of?: string;
  readonly side?: Side;
}

const sceneOperations = ['count', 'count-side', 'nearest', 'sign'] as const;
type SceneOperation = (typeof sceneOperations)[number];

const sides = ['left of', 'right of', 'above', 'below'] as const;
type Side = (typeof sides)[number];

/** Sides in the words of a question. */
const words: Readonly<Record<Side, string>> = {
  'left of': 'to the left of',
  'right of': 'to the right of',
  above: 'above',
  below: 'below',
};

/** The content of a scene at a level of difficulty. */
interface SceneLevel extends Arrangement {
  /** Fewest and most items. */
  readonly items: readonly [number, number];
  /** Different kinds. */
  readonly kinds: number;
  /** Signs of a question about signs, and the height of each in pixels. */
  readonly signs: number;
  readonly signHeight: number;
  readonly characters: number;
}

interface SceneQuestion {
  readonly question: string;
  readonly answer: string;
  readonly program: SceneProgram;
  readonly items: readonly SceneItem[];
  readonly signs: readonly SceneSign[];
  /** The evidence that decides the answer; pixels. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
}

/** Centers on different sides of another differ by at least this share of the larger size. */
const CLEAR = 0.5;
/** The second nearest is farther away than the nearest by this factor. */
const NEAREST = 1.25;
/** Characters that are not mistaken for another. */
const characters = [...'ACEFHJKLMNPRTUVWXY34679'];

/** Draws a scene with a question; undefined where the drawn one is not clear. */
export function askScene(
  kinds: readonly Pictogram[],
  level: SceneLevel,
  typeface: Typeface,
  random: Random,
): SceneQuestion | undefined {
  const operation = random.pick(sceneOperations);
  const [only, ...others] = random.shuffle(kinds).slice(0, level.kinds);
  const [counted] = others;
  if (only === undefined || counted === undefined) return undefined;
  const [fewest, most] = level.items;
  const count = fewest + random.integer(most - fewest + 1);
  // The counted kind is as likely to be rare as to be frequent.
  const copies = 1 + random.integer(Math.ceil(count * 0.6));
  const rest = others.length > 1 ? others.slice(1) : others;
  const chosen = [
    only,
    ...Array.from({ length: copies }, () => counted),
    ...Array.from({ length: Math.max(1, count - copies - 1) }, () => random.pick(rest)),
  ];
  const items = arrange(random.shuffle(chosen), level, [], random);
  const pivot = items?.find(({ pictogram }) => pictogram === only);
  if (items === undefined || pivot === undefined) return undefined;
  const ofKind = items.filter(({ pictogram }) => pictogram === counted);
  const named = (some: readonly SceneItem[]) =>
    some.map((item) => ({ name: item.pictogram.name, box: itemBox(item) }));
  const make = (
    question: string,
    answer: string,
    program: Omit<SceneProgram, 'operation'>,
    evidence: SceneQuestion['evidence'],
    signs: readonly SceneSign[] = [],
  ): SceneQuestion => {
    return { question, answer, program: { operation, ...program }, items, signs, evidence };
  };
  switch (operation) {
    case 'count':
      return make(
        `How many ${counted.plural} are drawn on the photograph?`,
        String(ofKind.length),
        { kind: counted.name },
        named(ofKind),
      );
    case 'count-side': {
      const side = random.pick(sides);
      const ahead = ofKind.map((item) => stepsTo(side, pivot, item));
      const limits = ofKind.map((item) => CLEAR * Math.max(item.size, pivot.size));
      if (ahead.some((step, index) => Math.abs(step) < (limits[index] ?? 0))) return undefined;
      return make(
        `How many ${counted.plural} are ${words[side]} the only ${only.name}? Compare their centers.`,
        String(ahead.filter((step) => step > 0).length),
        { kind: counted.name, of: only.name, side },
        named([pivot, ...ofKind]),
      );
    }
    case 'nearest': {
      const ranked = items
        .filter((item) => item !== pivot)
        .map((item) => ({ item, far: Math.hypot(item.x - pivot.x, item.y - pivot.y) }))
        .sort((a, b) => a.far - b.far);
      const [nearest] = ranked;
      if (nearest === undefined) return undefined;
      const { item } = nearest;
      const rival = ranked.find((each) => each.item.pictogram !== item.pictogram);
      if (rival !== undefined && rival.far < NEAREST * nearest.far) return undefined;
      const { name } = item.pictogram;
      const possible = kinds.filter((kind) => kind !== only);
      const listed = optionsOf(item.pictogram, [counted, ...rest], possible, random);
      return make(
        `Which kind of thing is drawn nearest to the only ${only.name}: ${listed}?`,
        name,
        { of: only.name },
        named([pivot, item]),
      );
    }
    case 'sign': {
      const signs = drawSigns(items, level, typeface, random);
      const [nearest, rival] = [...signs].sort((a, b) => far(a, pivot) - far(b, pivot));
      if (nearest === undefined || signs.length < level.signs) return undefined;
      if (rival !== undefined && far(rival, pivot) < NEAREST * far(nearest, pivot))
        return undefined;
      const sign = { name: 'sign', box: nearest.box };
      if (rival === undefined) {
        return make('What is written on the small white sign?', nearest.text, {}, [sign], signs);
      }
      return make(
        `What is written on the small white sign that is nearest to the only ${only.name}?`,
        nearest.text,
        { of: only.name },
        [sign, ...named([pivot])],
        signs,
      );
    }
  }
}

/** How far an item's center is on a side of another's, in pixels; negative on the other side. */
function stepsTo(side: Side, from: SceneItem, item: SceneItem): number {
  const steps = {
    'left of': from.x - item.x,
    'right of': item.x - from.x,
    above: from.y - item.y,
    below: item.y - from.y,
  };
  return steps[side];
}

function far({ box: [left, top, right, bottom] }: SceneSign, { x, y }: SceneItem): number {
  return Math.hypot((left + right) / 2 - x, (top + bottom) / 2 - y);
}

function drawSigns(
  items: readonly SceneItem[],
  level: SceneLevel,
  typeface: Typeface,
  random: Random,
): readonly SceneSign[] {
  const signs: SceneSign[] = [];
  for (let index = 0; index < level.signs; index++) {
    const text = random.shuffle(characters).slice(0, level.characters).join('');
    const [left, , right] = signBox(text, 0, 0, level.signHeight, typeface);
    const taken = [...items.map(itemBox), ...signs.map(({ box }) => box)];
    const place = drawPlace([level.width, level.height], right - left + 2, taken, GAP, random);
    if (place === undefined) return [];
    signs.push({ text, box: signBox(text, ...place, level.signHeight, typeface), typeface });
  }
  return signs;
}
