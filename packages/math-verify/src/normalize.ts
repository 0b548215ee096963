/** Takes styling, delimiters and Unicode out of LaTeX, so that one notation is left to parse. */

/** Longest answer that is parsed; a longer one is only compared as text. */
export const maxMathCharacters = 1000;

const characters: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '—': '-',
  '﹣': '-',
  '×': '*',
  '⋅': '*',
  '·': '*',
  '∙': '*',
  '∗': '*',
  '÷': '/',
  '⁄': '/',
  '∕': '/',
  '≤': '\\le ',
  '≥': '\\ge ',
  '⩽': '\\le ',
  '⩾': '\\ge ',
  '≠': '\\ne ',
  '∞': '\\infty ',
  π: '\\pi ',
  '∪': '\\cup ',
  '∩': '\\cap ',
  '∖': '\\setminus ',
  '∈': '\\in ',
  '∅': '\\emptyset ',
  ℝ: '\\mathbb{R}',
  ℤ: '\\mathbb{Z}',
  ℂ: '\\mathbb{C}',
  '±': '\\pm ',
  '°': '^\\circ ',
  '√': '\\sqrt ',
  '∛': '\\sqrt[3]',
  '⌊': '\\lfloor ',
  '⌋': '\\rfloor ',
  '⌈': '\\lceil ',
  '⌉': '\\rceil ',
  '≈': '\\approx ',
  '→': '\\to ',
  '½': '\\frac{1}{2}',
  '⅓': '\\frac{1}{3}',
  '⅔': '\\frac{2}{3}',
  '¼': '\\frac{1}{4}',
  '¾': '\\frac{3}{4}',
  '⅕': '\\frac{1}{5}',
  '⅛': '\\frac{1}{8}',
  '，': ',',
  '．': '.',
  '；': ';',
  '（': '(',
  '）': ')',
  '【': '[',
  '】': ']',
  '％': '%',
  '＝': '=',
  '＋': '+',
  '＜': '<',
  '＞': '>',
  α: '\\alpha ',
  β: '\\beta ',
  γ: '\\gamma ',
  δ: '\\delta ',
  ε: '\\epsilon ',
  θ: '\\theta ',
  λ: '\\lambda ',
  μ: '\\mu ',
  ρ: '\\rho ',
  σ: '\\sigma ',
  τ: '\\tau ',
  φ: '\\phi ',
  ϕ: '\\phi ',
  ω: '\\omega ',
  Δ: '\\Delta ',
  Ω: '\\Omega ',
  '€': '',
  '£': '',
  '¥': '',
};

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const subscripts = '₀₁₂₃₄₅₆₇₈₉';

/** Commands that only change how something looks. */
const styling =
  /\\(?:left|right|bigl|bigr|Bigl|Bigr|biggl|biggr|Biggl|Biggr|bigg|Bigg|big|Big|middle|displaystyle|textstyle|scriptstyle|limits|nolimits|phantom|hfill|mathstrut|strut)(?![a-zA-Z])\s*/g;

/** The content of the last `\boxed{…}`, else of the last `$…$` among words, else all of it. */
export function mathPartOf(text: string): string {
  const boxed = lastBraced(text, '\\boxed{') ?? lastBraced(text, '\\fbox{');
  if (boxed !== undefined) return boxed;
  const spans = [
    ...text.matchAll(/\$\$([^$]+)\$\$|\$([^$]+)\$|\\\(([\s\S]+?)\\\)|\\\[([\s\S]+?)\\\]/g),
  ];
  const last = spans.at(-1);
  if (last === undefined) return afterAnswerIs(text);
  // Words around it, and not merely a unit or what joins two answers.
  const outside = text.replaceAll(/\$[^$]*\$|\\\([\s\S]*?\\\)|\\\[[\s\S]*?\\\]/g, ' ');
  const words = (outside.match(/[A-Za-z]{3,}/g) ?? []).filter((word) => !/^and$/i.test(word));
  if (words.length === 0) return text;
  return last[1] ?? last[2] ?? last[3] ?? last[4] ?? text;
}

/** The text after the last `the answer is`, up to the end of the sentence. */
function afterAnswerIs(text: string): string {
  const stated = [...text.matchAll(/\banswer\s*(?:is\s*:?|:)\s*/gi)].at(-1);
  if (stated === undefined) return text;
  const rest = text.slice(stated.index + stated[0].length);
  return rest.replace(/\n[\s\S]*$|(?<=\S)\.(?=\s|$)[\s\S]*$/, '');
}

function lastBraced(text: string, opening: string): string | undefined {
  const start = text.lastIndexOf(opening);
  if (start < 0) return undefined;
  let depth = 1;
  for (let at = start + opening.length; at < text.length; at++) {
    if (text[at] === '{' && text[at - 1] !== '\\') depth++;
    if (text[at] === '}' && text[at - 1] !== '\\') depth--;
    if (depth === 0) return text.slice(start + opening.length, at);
  }
  return undefined;
}

/** One notation for what can be written in many; see the tests of `math`. */
export function normalizeMath(text: string): string {
  let plain = mathPartOf(text.normalize('NFC'));
  // Escaped once too often, as in JSON; in a matrix \\\\ ends a row.
  if (!plain.includes('\\begin')) plain = plain.replace(/\\\\(?=[a-zA-Z])/g, '\\');
  // Rounded once more at the end: 70/9 ≈ 7.78.
  plain = plain.replace(/(=.*?)(?:\\approx|≈).*$/s, '$1');
  plain = plain.replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (digits) => `^{${digitsOf(digits, superscripts)}}`);
  plain = plain.replace(/[₀₁₂₃₄₅₆₇₈₉]+/g, (digits) => `_{${digitsOf(digits, subscripts)}}`);
  plain = plain.replace(/[^\p{ASCII}]/gu, (character) => characters[character] ?? character);
  return plain
    .replace(styling, ' ')
    .replace(/\\(?:[dtc]frac|nicefrac|sfrac|dfrac)(?![a-zA-Z])/g, '\\frac')
    .replace(/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}')
    .replace(/\\frac\s+([a-zA-Z\d])\s*([a-zA-Z\d])/g, '\\frac{$1}{$2}')
    .replace(/\\frac\s*(\d)\s*\{/g, '\\frac{$1}{')
    .replace(/\\text\w*\s*\{([^{}a-zA-Z]*)\}/g, '$1')
    .replace(/(?:\\text\w*\s*\{\s*)?\b(?:percent|pct|percentage)\b(?:\s*\})?/gi, '%')
    .replace(/(?<=\d\s?)(thousand|million|billion|trillion)\b/gi, (word) => multiplierOf(word))
    .replace(/\^\s*([a-zA-Z])(?=[a-zA-Z])(?!(?<=p)i|(?<=[a-z])(?:in|os|an|n|og)\b)/g, '^{$1}')
    .replace(/\\[dt]binom(?![a-zA-Z])/g, '\\binom')
    .replace(/(\d)\s*\{\s*,\s*\}\s*(\d)/g, '$1$2')
    .replace(/(\d)\\[,;:! ](?=\d{3}(?!\d))/g, '$1')
    .replace(/\\\\\s*\[[^\]]*\]/g, '\\\\')
    .replace(/,\\!\s*/g, ',')
    .replace(/\\[,;:!>]/g, ' ')
    .replace(/\\(?:quad|qquad|hspace\{[^}]*\}|space)(?![a-zA-Z])/g, ' ')
    .replace(/(?<!\\)\\ /g, ' ')
    .replace(/~/g, ' ')
    .replace(/\\\$|\$/g, ' ')
    .replace(/(?<!\\)\\[()]/g, ' ')
    .replace(/(?<!\\)\\[[\]]/g, ' ')
    .replace(/\\%/g, '%')
    .replace(/\\(?:degree|degrees)(?![a-zA-Z])/g, '^\\circ ')
    .replace(/\^\s*\{\s*\\circ\s*\}/g, '^\\circ ')
    .replace(/\\(?:operatorname\*?|mathop)\s*\{\s*([a-zA-Z]+)\s*\}/g, '\\$1 ')
    .replace(/&(?=\s*=)|(?<==)\s*&/g, ' ')
    .replace(/[\s.。]+$/u, '')
    .replace(/[;,]+$/, '')
    .trim();
}

function digitsOf(text: string, alphabet: string): string {
  return [...text].map((character) => alphabet.indexOf(character)).join('');
}

const multipliers: Readonly<Record<string, number>> = {
  thousand: 3,
  million: 6,
  billion: 9,
  trillion: 12,
};

const multiplierOf = (word: string): string => `*10^{${multipliers[word.toLowerCase()] ?? 0}}`;
