/** Finds what a text names: VISTA's GroundingDINO. */
import { refused } from '@saccade/tools';
import { z } from 'zod';
import {
  type CallEngine,
  defineVisionTool,
  imageAt,
  imageIndex,
  isOutcome,
} from '../define-vision-tool.ts';
import { cocoClasses } from '../detection/coco.ts';
import { type Phrase, readQuery } from '../detection/query.ts';
import { textMatches } from '../detection/text-matches.ts';
import { answered, declined } from '../outcomes.ts';
import { wordsOf } from '../reading/words.ts';

const prefix = 'GroundingDINO Object Detection Result:\n';
const box = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const objects = z.object({
  objects: z.array(
    z.object({
      class: z.int().min(0).max(79),
      score: z.number(),
      box,
      colors: z.record(z.string(), z.number()).optional(),
    }),
  ),
});

/** Something found: what it is called in the answer, how sure that is, and where. */
interface Finding {
  readonly name: string;
  readonly score: number;
  readonly box: readonly number[];
}

interface Thresholds {
  readonly box: number;
  readonly text: number;
}

export const groundingdino = defineVisionTool({
  name: 'groundingdino',
  description:
    'Finds the objects that a text names, such as "dog . red car", and gives a box for each. Text in ' +
    'quotes is found where the image shows it.',
  says:
    'NanoDet, which knows the 80 classes of COCO and words for them; colors are measured; text is ' +
    'read by PP-OCRv4.',
  parameters: {
    query: z.string().min(1).max(2000).optional().describe('What to find; phrases end with a dot.'),
    caption: z.string().min(1).max(2000).optional().describe('The same as query.'),
    box_threshold: z.number().min(0).max(1).optional().describe('Lowest score; 0.35 by default.'),
    text_threshold: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('How well a phrase must fit what is found; 0.25 by default.'),
    image_index: imageIndex,
  },
  example: { query: 'person . "Total"' },
  operations: ['detect', 'ocr'],
  async embedded(given, context, engine) {
    const { query = given.caption, box_threshold = 0.35, text_threshold = 0.25 } = given;
    if (query === undefined) {
      return refused('MissingArgument', 'The argument query is missing. Give it.');
    }
    const image = imageAt(context, given.image_index ?? 0);
    if (isOutcome(image)) return image;
    const phrases = readQuery(query);
    const unknown = phrases.filter(({ kind }) => kind === 'unknown').map(({ phrase }) => phrase);
    if (unknown.length === phrases.length) return declined('CannotAnswer', cannotFind(unknown));
    const thresholds = { box: box_threshold, text: text_threshold };
    const findingsOf = await seek(engine, image.png, phrases, thresholds);
    const lines = phrases.flatMap((phrase) => describe(phrase, findingsOf(phrase)));
    return answered(prefix + lines.join('\n'));
  },
});

/** Looks once for all objects, and reads once where text is asked for. */
async function seek(
  engine: CallEngine,
  png: Uint8Array,
  phrases: readonly Phrase[],
  thresholds: Thresholds,
): Promise<(phrase: Phrase) => readonly Finding[]> {
  const named = phrases.flatMap((phrase) => (phrase.kind === 'objects' ? [phrase] : []));
  const classes = [...new Set(named.flatMap((phrase) => phrase.classes))].sort((a, b) => a - b);
  const params = {
    classes: classes.length === cocoClasses.length ? null : classes,
    threshold: thresholds.box,
    colors: named.some(({ colors }) => colors.length > 0),
  };
  const seen = named.length > 0 ? await engine.run('detect', params, [png]) : undefined;
  const isRead = phrases.some(({ kind }) => kind === 'text');
  const read = isRead ? await engine.run('ocr', {}, [png]) : undefined;
  const all = seen === undefined ? [] : objects.parse(seen.result).objects;
  const words = read === undefined ? [] : wordsOf(read.result);
  return (phrase) => {
    if (phrase.kind === 'unknown') return [];
    if (phrase.kind === 'text') {
      return textMatches(words, phrase.text)
        .filter(({ match }) => match >= thresholds.text)
        .map(({ text, match, box: where }) => ({ name: `"${text}"`, score: match, box: where }));
    }
    if (phrase.match < thresholds.text) return [];
    return all
      .filter((one) => phrase.classes.includes(one.class) && hasColors(one.colors, phrase.colors))
      .map((one) => ({ name: cocoClasses[one.class] ?? '', score: one.score, box: one.box }));
  };
}

/** A color counts from a fifth of the object on: parts of it are shadow, light or something else. */
function hasColors(
  shares: Readonly<Record<string, number>> | undefined,
  colors: readonly string[],
): boolean {
  return colors.every((color) => (shares?.[color] ?? 0) >= 0.2);
}

function describe(phrase: Phrase, found: readonly Finding[]): readonly string[] {
  if (phrase.kind === 'unknown') return [cannotFind([phrase.phrase])];
  const unchecked = phrase.kind === 'objects' ? phrase.unchecked : [];
  const note = unchecked.length > 0 ? ` (not checked: ${unchecked.join(', ')})` : '';
  if (found.length === 0) return [`${phrase.phrase}: none found.`];
  return found.map(({ name, score, box: where }) => {
    const is = name === phrase.phrase ? name : `${phrase.phrase}: ${name}`;
    return `${is}${note} [${where.map(Math.round).join(', ')}] ${score.toFixed(2)}`;
  });
}

function cannotFind(phrases: readonly string[]): string {
  const what = phrases.map((phrase) => phrase.slice(0, 80)).join(', ');
  return (
    `${what === '' ? 'Nothing' : what}: no class of the detector. It finds the 80 classes of COCO ` +
    '(person, car, dog, cup, chair, …), and text in quotes.'
  );
}
