/** Names that mean something: functions, Greek letters, relations. */
import type { Relation } from './expression.ts';

/** Written name → the function evaluated. */
export const functionNames: Readonly<Record<string, string>> = {
  sin: 'sin',
  cos: 'cos',
  tan: 'tan',
  cot: 'cot',
  sec: 'sec',
  csc: 'csc',
  tg: 'tan',
  ctg: 'cot',
  cosec: 'csc',
  arcsin: 'arcsin',
  arccos: 'arccos',
  arctan: 'arctan',
  asin: 'arcsin',
  acos: 'arccos',
  atan: 'arctan',
  arctg: 'arctan',
  sinh: 'sinh',
  cosh: 'cosh',
  tanh: 'tanh',
  ln: 'ln',
  log: 'log',
  lg: 'log',
  exp: 'exp',
  sqrt: 'sqrt',
  cbrt: 'cbrt',
  abs: 'abs',
  floor: 'floor',
  ceil: 'ceil',
  max: 'max',
  min: 'min',
  gcd: 'gcd',
  lcm: 'lcm',
  factorial: 'factorial',
  binom: 'binom',
  det: 'det',
  Re: 'real',
  Im: 'imaginary',
  sgn: 'sign',
};

/** Functions whose power may be written on the name: sin² x. */
export const trigonometric: ReadonlySet<string> = new Set([
  'sin',
  'cos',
  'tan',
  'cot',
  'sec',
  'csc',
  'sinh',
  'cosh',
  'tanh',
  'ln',
  'log',
]);

/** sin⁻¹ is the inverse, not the reciprocal. */
export const inverses: Readonly<Record<string, string>> = {
  sin: 'arcsin',
  cos: 'arccos',
  tan: 'arctan',
};

export const greek: ReadonlySet<string> = new Set(
  (
    'alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi ' +
    'rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma ' +
    'Phi Psi Omega ell hbar'
  ).split(' '),
);

/** Commands, words and signs of relations. */
export const relationNames: Readonly<Record<string, Relation>> = {
  '=': '=',
  '==': '=',
  equiv: '=',
  approx: '=',
  sim: '=',
  simeq: '=',
  cong: '=',
  '≠': '≠',
  '!=': '≠',
  ne: '≠',
  neq: '≠',
  '<': '<',
  lt: '<',
  '>': '>',
  gt: '>',
  '<=': '≤',
  le: '≤',
  leq: '≤',
  leqslant: '≤',
  '>=': '≥',
  ge: '≥',
  geq: '≥',
  geqslant: '≥',
  in: '∈',
};

/** Commands whose argument is words. */
export const textCommands: ReadonlySet<string> = new Set([
  'text',
  'textbf',
  'textit',
  'textrm',
  'textsf',
  'texttt',
  'textnormal',
  'mbox',
  'hbox',
  'emph',
]);

/** Commands that change the letters' shape and keep their meaning. */
export const fontCommands: ReadonlySet<string> = new Set([
  'mathrm',
  'mathbf',
  'mathit',
  'mathsf',
  'mathtt',
  'boldsymbol',
  'bm',
  'rm',
  'bf',
  'vec',
  'hat',
  'bar',
  'overline',
  'overrightarrow',
  'mathcal',
  'mathscr',
  'mathfrak',
  'underline',
  'tilde',
]);
