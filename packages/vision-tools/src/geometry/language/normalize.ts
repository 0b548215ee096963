/** Brings the text of a geometry problem into few words: symbols for relations, no LaTeX, no fillers. */

/** LaTeX and Unicode, in the order in which they are replaced. */
const symbols: readonly (readonly [RegExp, string])[] = [
  [/\\(?:text|mathrm|mbox|textbf)\s*\{([^{}]*)\}/g, ' $1 '],
  [
    /\\(?:overline|overleftrightarrow|overrightarrow|bar|vec)\s*\{?\s*([A-Z][A-Z0-9']*)\s*\}?/g,
    ' $1 ',
  ],
  [/\\(?:widehat|overset\{\\frown\}|wideparen)\s*\{\s*([A-Z][A-Z0-9']*)\s*\}/g, ' arc $1 '],
  [/[⌒⁀]\s*([A-Z])/g, ' arc $1'],
  [/\\measuredangle|\\angle/g, '∠'],
  [/\\(?:triangle|bigtriangleup|Delta)|Δ|▲/g, '△'],
  [/\\parallelogram|\\Box|▱/g, ' parallelogram '],
  [/\\parallel|\|\||∥|⫽|\/\//g, ' ∥ '],
  [/\\perp|⊥|⟂/g, ' ⊥ '],
  [/\\(?:odot|bigodot)|⊙|☉/g, ' circle '],
  [/\\cong|≌|≅/g, ' ≅ '],
  [/\\sim(?:eq)?|∽|∼|~/g, ' ∼ '],
  [/\^\s*\{?\s*\\circ\s*\}?|\\degree|º|˚/g, '°'],
  [/\\left|\\right|\\,|\\;|\\!|\\ /g, ' '],
  [/\\pi|π/g, ' pi '],
  [/\\times|×|\\cdot|·/g, ' * '],
  [/\\div|÷/g, ' / '],
  [/\\colon|∶|：/g, ':'],
  [/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '(($1)/($2))'],
  [/\\sqrt\s*\{([^{}]*)\}/g, 'sqrt($1)'],
  [/\\sqrt\s*(\d+)/g, 'sqrt($1)'],
  [/√\s*\(([^()]*)\)/g, 'sqrt($1)'],
  [/√\s*(\d+(?:\.\d+)?|[a-z])/g, 'sqrt($1)'],
  [/½/g, '(1/2)'],
  [/²/g, '^2'],
  [/³/g, '^3'],
  [/[−–—]/g, '-'],
  [/[“”"$]/g, ' '],
  [/，/g, ', '],
  [/。/g, '. '],
];

/** Words for relations and measures that have a symbol. */
const words: readonly (readonly [RegExp, string])[] = [
  [/\bm\s*∠/gi, '∠'],
  [/\bangles\b/gi, '∠∠'],
  [/\bangle\b/gi, '∠'],
  [/\btriangles\b/gi, '△△'],
  [/\btriangle\b/gi, '△'],
  [/\b(?:is|are|be)\s+(?:each\s+)?parallel\s+(?:to|with)\b|\bparallel\s+to\b/gi, ' ∥ '],
  [/\b(?:is|are|be)\s+perpendicular\s+(?:to|with)\b|\bperpendicular\s+to\b/gi, ' ⊥ '],
  [/\b(?:is|are|be)\s+congruent\s+(?:to|with)\b|\bcongruent\s+to\b/gi, ' ≅ '],
  [/\b(?:is|are|be)\s+similar\s+(?:to|with)\b|\bsimilar\s+to\b/gi, ' ∼ '],
  [/\bdegrees?\b/gi, '°'],
  [
    /\b(?:is|are)\s+equal\s+to\b|\bequals?\b|\b(?:is|are)\s+the\s+same\s+(?:length\s+)?as\b/gi,
    ' = ',
  ],
  [/\btimes\b|\bmultiplied by\b/gi, ' * '],
  [/\bdivided by\b/gi, ' / '],
  [/\bplus\b/gi, ' + '],
  [/\bminus\b/gi, ' - '],
  [/\bsquare root of\s*(\d+)/gi, 'sqrt($1)'],
  [/\b(in|circum|ortho|)cent(?:re|er)\b/gi, '$1center'],
];

/** Words without content: places, courtesies, articles, names of kinds that letters show. */
const fillers: readonly RegExp[] = [
  /\b(?:as|is)\s+shown\s+(?:in|on|by)\s+(?:the\s+)?(?:figure|diagram|picture|image)(?:\s+(?:below|above))?\b/gi,
  /\bas\s+(?:in\s+)?(?:the\s+)?(?:figure|diagram|picture)\s+shows\b/gi,
  /\b(?:in|from|refer to|according to)\s+the\s+(?:figure|diagram|picture|image)(?:\s+(?:below|above|shown|at\s+(?:the\s+)?(?:left|right)))?\b/gi,
  /\bas\s+shown\b/gi,
  /\b(?:it\s+is\s+)?(?:given|known)(?:\s+that)?\b/gi,
  /\b(?:suppose|assume)(?:\s+that)?\b/gi,
  /\bwe\s+(?:know|have)(?:\s+that)?\b/gi,
  // A capital A is a point.
  /\b(?:let|if|the|a|an|both|respectively|also|there (?:is|are))\b/g,
  /^A(?= [a-z])/g,
  /\b(?:lines?|segments?|sides?(?! length)|rays?|points?|straight|located|lying|exactly|long|central|inscribed(?= ∠)|interior)\b/gi,
  /\b(?:square\s+)?(?:cm|mm|km|meters?|metres?|centimeters?|centimetres?|units?|inch(?:es)?|feet|ft|yards?)(?:\^[23])?(?![a-z])/gi,
];

/** The text in words and symbols that the grammar knows. */
export function normalize(text: string): string {
  let plain = text;
  for (const [pattern, by] of symbols) plain = plain.replace(pattern, by);
  plain = plain.replaceAll('\\', ' ');
  for (const [pattern, by] of words) plain = plain.replace(pattern, by);
  // m is a unit after a number only. Words are lower case, so that capitals are points.
  plain = plain.replace(/(\d)\s*m\b(?!\s*∠)/g, '$1');
  plain = plain.replace(/\b[A-Z][a-z]+\b/g, (word) => word.toLowerCase());
  plain = plain.replace(/∠\s+(?=∠)/g, '').replace(/△\s+(?=△)/g, '');
  return plain.replace(/\s+/g, ' ').trim();
}

/** A clause without what says nothing. */
export function withoutFillers(clause: string): string {
  let plain = clause;
  for (const filler of fillers) plain = plain.replace(filler, ' ');
  return plain
    .replace(/\s+/g, ' ')
    .replace(/^[\s,:;]+|[\s,:;.?!]+$/g, '')
    .trim();
}
