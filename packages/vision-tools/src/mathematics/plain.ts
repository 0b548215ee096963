/** Formulas as people and LaTeX write them, in the plain notation that the parser reads. */

const replacements: readonly (readonly [RegExp, string])[] = [
  [/\\begin\{cases\}|\\end\{cases\}/g, ' '],
  [/\\\\/g, ' ; '],
  [/\\(?:text|mathrm|operatorname|mbox)\s*\{([^{}]*)\}/g, ' $1 '],
  [/\\(?:left|right|displaystyle|,|;|!|quad|qquad)(?![a-z])/g, ' '],
  [/[${}&]?\$[&]?/g, ' '],
  [/\\[dt]?frac\s*(\d)\s*(\d)/g, '(($1)/($2))'],
  [/\\sqrt\s*\[(\d+)\]\s*\{([^{}]*)\}/g, 'nthRoot($2, $1)'],
  [/\\sqrt\s*\{([^{}]*)\}/g, 'sqrt($1)'],
  [/\\sqrt\s*(\w)/g, 'sqrt($1)'],
  [/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '(($1)/($2))'],
  [/\^\s*\{\s*\\circ\s*\}|\^\s*\\circ|\\degree|º|˚/g, '°'],
  [/\^\s*\{([^{}]*)\}/g, '^($1)'],
  [/_\s*\{([^{}]*)\}/g, '_($1)'],
  [/\\(?:cdot|times|ast)|[×·∙⋅∗]/g, '*'],
  [/\\div|÷/g, '/'],
  [/\\pi|π/g, ' pi '],
  [/\\infty|∞|\binfinity\b/gi, ' inf '],
  [/\\(?:leq?|leqslant)|≤|⩽|=</g, '<='],
  [/\\(?:geq?|geqslant)|≥|⩾/g, '>='],
  [/\\(?:neq?)|≠/g, '!='],
  [/\\(?:to|rightarrow|longrightarrow)|→|->/g, ' to '],
  [/\\(sin|cos|tan|cot|sec|csc|ln|log|exp|lim|int|arcsin|arccos|arctan)(?![a-z])/g, ' $1 '],
  [/∫/g, ' int '],
  [/√\s*\(/g, 'sqrt('],
  [/√\s*(\d+(?:\.\d+)?|[a-z])/g, 'sqrt($1)'],
  [/∛\s*(\d+|[a-z])/g, 'nthRoot($1, 3)'],
  [/²/g, '^2'],
  [/³/g, '^3'],
  [/⁴/g, '^4'],
  [/½/g, '(1/2)'],
  [/¼/g, '(1/4)'],
  [/¾/g, '(3/4)'],
  [/[−–—]/g, '-'],
  [/[“”"`]/g, ' '],
  [/\\[{}]/g, ' '],
  [/[{}]/g, ' '],
  [/\|([^|]+)\|/g, 'abs($1)'],
  [/\barc(sin|cos|tan)\b/g, 'a$1'],
  [/(\d)\s*%\s*of\b/g, '$1/100 *'],
  [/(\d)\s*%/g, '($1/100)'],
  // 2 1/2 is two and a half.
  [/(?<![\w.^*/+-]\s*)(\d+)\s+(\d+)\/(\d+)(?![\w.])/g, '($1+$2/$3)'],
  [/(\d(?:\.\d+)?)\s*°/g, '$1*(pi/180)'],
  [/(\d),(?=\d{3}(?!\d))/g, '$1'],
];

/** The text with formulas in plain notation; its words are left as they are. */
export function plainMath(text: string): string {
  let plain = text;
  // Fractions and roots within one another become plain from the inside out.
  for (let round = 0; round < 4; round++) {
    const before = plain;
    for (const [pattern, by] of replacements) plain = plain.replace(pattern, by);
    if (plain === before) break;
  }
  return plain.replace(/\s+/g, ' ').trim();
}
