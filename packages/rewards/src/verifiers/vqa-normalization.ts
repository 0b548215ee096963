/** Texts made alike, as the public evaluations of VQA and of TextVQA do it. */

/** The evaluations whose rules there are. */
export const normalizations = ['vqa', 'textvqa'] as const;

/** One of them. */
export type Normalization = (typeof normalizations)[number];

/** Characters that become nothing beside a space, and a space elsewhere. */
const PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!';

const ARTICLES = new Set(['a', 'an', 'the']);
const NUMBERS = 'zero one two three four five six seven eight nine ten'.split(' ');
const DIGITS = new Map([['none', '0'], ...NUMBERS.map((word, i) => [word, `${i}`] as const)]);

/** Words that are mended where one of their apostrophes is missing: `dont` is `don't`. */
const WITH_APOSTROPHES =
  "ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't " +
  "haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't mightn't've " +
  "might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've " +
  "shouldn't shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've someone'll " +
  "someone's something'd something'd've something'll that's there'd there'd've there're there's " +
  "they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're what's " +
  "what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's " +
  "won't would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've";

const MENDED = new Map(
  WITH_APOSTROPHES.split(' ').flatMap((word) =>
    [...word.matchAll(/'/g)].map(({ index }): [string, string] => [
      word.slice(0, index) + word.slice(index + 1),
      word,
    ]),
  ),
);

/**
 * A text of one line without articles and punctuation, in lower case, with digits for number words.
 *
 * VQA: `vqaEval.py` of GT-Vision-Lab/VQA. TextVQA: the answer processor of Pythia, as lmms-eval has it.
 */
export function normalized(text: string, normalization: Normalization): string {
  return withoutPunctuation(normalization === 'vqa' ? text : tokenized(text))
    .toLowerCase()
    .split(/\s+/u)
    .map((word) => DIGITS.get(word) ?? word)
    .filter((word) => word !== '' && !ARTICLES.has(word))
    .map((word) => MENDED.get(word) ?? word)
    .join(' ');
}

/** TextVQA takes away some signs first, and parts a genitive from its word. */
const tokenized = (text: string): string =>
  text.toLowerCase().replace(/[,?]/g, '').replaceAll("'s", " 's").trim();

function withoutPunctuation(text: string): string {
  // A text with 1,000 loses every sign without a space in its place.
  const hasThousands = /\d,\d/.test(text);
  let plain = text;
  for (const sign of PUNCTUATION) {
    const isBesideSpace = text.includes(`${sign} `) || text.includes(` ${sign}`);
    plain = plain.replaceAll(sign, isBesideSpace || hasThousands ? '' : ' ');
  }
  // A point that no digit follows ends a sentence.
  return plain.replace(/\.(?!\d)/g, '');
}
