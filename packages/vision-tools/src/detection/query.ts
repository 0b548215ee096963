/** Reads what a detection query asks for: classes, colors, and text that is to be read. */
import { classesNamed, cocoClasses } from './coco.ts';

/** The colors that a query may ask for, as `python/operations/colors.py` measures them. */
const colorNames = [
  'red',
  'orange',
  'yellow',
  'green',
  'blue',
  'purple',
  'pink',
  'brown',
  'black',
  'white',
  'gray',
] as const;

/** One phrase of a query. */
export type Phrase =
  | {
      readonly kind: 'objects';
      /** As the query has it. */
      readonly phrase: string;
      /** Indices into COCO's classes. */
      readonly classes: readonly number[];
      readonly colors: readonly string[];
      /** Words that nothing here can check, such as `wooden`. */
      readonly unchecked: readonly string[];
      /** How well the classes are what the phrase names: 1 for their own words. */
      readonly match: number;
    }
  /** Text to be read; an empty text stands for any. */
  | { readonly kind: 'text'; readonly phrase: string; readonly text: string }
  | { readonly kind: 'unknown'; readonly phrase: string };

const fillers = new Set(
  (
    'a,an,the,this,that,these,those,all,any,every,each,some,of,in,on,at,with,and,is,are,there,' +
    'find,locate,detect,show,me,please,image,picture,photo,its,his,her,their,one,colored,coloured'
  ).split(','),
);
const everything = new Set(['object', 'objects', 'thing', 'things', 'everything', 'item', 'items']);
const textWords = new Set([
  'text',
  'texts',
  'word',
  'words',
  'label',
  'labels',
  'number',
  'writing',
]);
/** Words after which a phrase describes its surroundings. */
const relations = new Set(['in', 'on', 'at', 'with', 'of', 'near', 'under', 'behind', 'wearing']);
const spellings: Readonly<Record<string, string>> = { grey: 'gray', violet: 'purple' };
const maxPhrases = 20;

/** The phrases of a query; GroundingDINO separates them with dots, people also with commas. */
export function readQuery(query: string): readonly Phrase[] {
  return splitPhrases(query)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, maxPhrases)
    .map(readPhrase);
}

/** A quoted text; an apostrophe within a word quotes nothing. */
const quotation = /"([^"]*)"|“([^”]*)”|(?<=^|\s)'([^']*)'(?=$|[\s.,;])/;
const token = new RegExp(`(?:${quotation.source})|([;,\\n]|\\.(?!\\d)|\\band\\b)|[\\s\\S]`, 'gi');

/** Splits at dots, commas, semicolons and "and", but not within quotes or numbers. */
function splitPhrases(query: string): readonly string[] {
  const parts = [''];
  for (const match of query.matchAll(token)) {
    const isSeparator = match[4] !== undefined;
    if (isSeparator) parts.push('');
    else parts[parts.length - 1] += match[0];
  }
  return parts;
}

function readPhrase(phrase: string): Phrase {
  const match = quotation.exec(phrase);
  const quoted = (match?.[1] ?? match?.[2] ?? match?.[3])?.trim();
  if (quoted !== undefined && quoted !== '') return { kind: 'text', phrase, text: quoted };
  const words = phrase
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  const [first, second] = words.filter((word) => !fillers.has(word));
  if (first !== undefined && textWords.has(first)) {
    return { kind: 'text', phrase, text: second === undefined ? '' : afterWord(phrase, first) };
  }
  return readObjects(phrase, words);
}

function readObjects(phrase: string, words: readonly string[]): Phrase {
  const all = words.filter((word) => !fillers.has(word) || relations.has(word));
  // "man in a red tie": what comes first is asked for, and what comes later cannot be checked.
  const cut = all.findIndex((word, index) => index > 0 && relations.has(word));
  const head = (cut < 0 ? all : all.slice(0, cut)).filter((word) => !relations.has(word));
  const after = cut < 0 ? [] : all.slice(cut).filter((word) => !relations.has(word));
  const names = head.map((word) => spellings[word] ?? word);
  for (let length = Math.min(3, names.length); length > 0; length--) {
    for (let start = names.length - length; start >= 0; start--) {
      const found = namedBy(names.slice(start, start + length).join(' '));
      if (found === undefined) continue;
      const rest = [...names.slice(0, start), ...names.slice(start + length)];
      const isColor = (word: string): boolean => colorNames.some((color) => color === word);
      const unchecked = [...rest.filter((word) => !isColor(word)), ...after];
      // Each word that is not understood makes it less likely that the phrase is what is found.
      const match = 1 / (1 + 0.5 * unchecked.length);
      return { kind: 'objects', phrase, ...found, colors: rest.filter(isColor), unchecked, match };
    }
  }
  return { kind: 'unknown', phrase };
}

function namedBy(words: string): { readonly classes: readonly number[] } | undefined {
  if (everything.has(words)) return { classes: cocoClasses.map((_, index) => index) };
  const classes = classesNamed(words);
  return classes === undefined ? undefined : { classes };
}

function afterWord(phrase: string, word: string): string {
  const at = phrase.toLowerCase().indexOf(word);
  return phrase
    .slice(at + word.length)
    .replace(/^[\s:]+/, '')
    .trim();
}
