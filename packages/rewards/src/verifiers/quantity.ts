/** Answers that are a number, with or without a unit of measurement. */

import { quantity as quantityField } from '@saccade/core/settings';
import { parseUnit } from '@saccade/math-verify';
import { z } from 'zod';
import { defineVerifier, type VerifierUnit } from '../define-verifier.ts';
import { boxedContent } from '../verdict.ts';

/** A number as written, in base units where its unit is known. */
interface Quantity {
  readonly value: number;
  readonly unit?: { readonly dimension: string; readonly factor: number };
  readonly isPercent: boolean;
}

const relative = (preset: number) =>
  quantityField({
    min: 0,
    max: 1,
    default: preset,
    unit: 'fraction',
    about: 'Largest error as a share of what is expected.',
  });
const absolute = quantityField({
  min: 0,
  max: 1e300,
  default: 0,
  unit: 'the expected unit',
  about: 'Largest error.',
});

/** |a − e| ≤ max(absoluteTolerance, relativeTolerance · |e|), in the expected unit. */
export interface Tolerances {
  readonly relativeTolerance: number;
  readonly absoluteTolerance: number;
}

/**
 * 1 if both are the same quantity: `5 cm` is `0.05 m`, `50%` is `0.5` and `50`, `1.2 million` is
 * `1,200,000`. A unit that only one side names is dropped; units of different dimensions differ.
 */
export const quantity = defineVerifier({
  name: 'quantity',
  description: 'The same number with its unit; units convert.',
  paper: 'units by the International System (BIPM brochure, 9th edition)',
  settings: z.strictObject({ relativeTolerance: relative(1e-6), absoluteTolerance: absolute }),
  verify: (answer, expected, tolerances) => compare(answer, expected, tolerances),
});

/** `quantity` with other tolerances. */
export function quantityWithin(tolerances: Partial<Tolerances>): VerifierUnit {
  return quantity.with(tolerances);
}

/**
 * ChartQA's relaxed accuracy: a number may be 5 % off, anything else must be the same text.
 *
 *   1{|ŷ − y| ≤ 0.05 · |y|}
 *
 * Masry et al. 2022, arXiv:2203.10244, §5.1, after Methani et al. 2020 (PlotQA), arXiv:1909.00997.
 */
export const quantityRelaxed = defineVerifier({
  name: 'relaxed-accuracy',
  description: 'A number to within 5 %, or the same text.',
  paper: 'arXiv:2203.10244, §5.1',
  settings: z.strictObject({ relativeTolerance: relative(0.05) }),
  verify(answer, expected, { relativeTolerance }) {
    if (quantityIn(expected) !== undefined) {
      return compare(answer, expected, { relativeTolerance, absoluteTolerance: 0 });
    }
    const plain = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ');
    return plain(answer) === plain(expected) && plain(answer) !== '' ? 1 : 0;
  },
});

function compare(answer: string, expected: string, tolerances: Tolerances): number {
  const { relativeTolerance, absoluteTolerance } = tolerances;
  const [a, e] = [quantityIn(answer), quantityIn(expected)];
  if (a === undefined || e === undefined) return 0;
  if (a.unit && e.unit && a.unit.dimension !== e.unit.dimension) return 0;
  const factor = a.unit && e.unit ? a.unit.factor / e.unit.factor : 1;
  const within = (x: number, y: number): boolean =>
    Math.abs(x - y) <= Math.max(absoluteTolerance, relativeTolerance * Math.abs(y)) * (1 + 1e-9);
  if (within(a.value * factor, e.value)) return 1;
  if (a.isPercent === e.isPercent) return 0;
  return within(a.isPercent ? a.value / 100 : a.value, e.isPercent ? e.value / 100 : e.value)
    ? 1
    : 0;
}

const powersOfTen: Readonly<Record<string, number>> = {
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};

const written =
  /^([+-]?)\s*[$€£¥]?\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d+)?)\s*(thousand|million|billion|trillion)?\s*(%|percent|pct)?\s*(.*)$/i;

function quantityIn(text: string): Quantity | undefined {
  const plain = (boxedContent(text) ?? text)
    .replace(/[\u2212\u2013]/g, '-')
    .replace(/\\text\w*\s*\{([^{}]*)\}|\\mathrm\s*\{([^{}]*)\}/g, ' $1$2')
    .replace(/\\[,;:! ]|\\?\$(?=\d)|\$/g, ' ')
    .replace(/\\%/g, '%')
    .replace(/\^\s*\{?\s*\\circ\s*\}?/g, '°')
    .trim()
    .replace(/\.$/, '');
  if (plain.length > 200) return undefined;
  const match = written.exec(plain);
  const [, sign = '', digits = '', multiplier, percent, rest = ''] = match ?? [];
  if (!/\d/.test(digits)) return undefined;
  const unit = rest.trim() === '' ? undefined : parseUnit(rest);
  if (rest.trim() !== '' && unit === undefined) return undefined;
  const size =
    Number(digits.replaceAll(',', '')) * (powersOfTen[multiplier?.toLowerCase() ?? ''] ?? 1);
  if (!Number.isFinite(size)) return undefined;
  const value = sign === '-' ? -size : size;
  return { value, isPercent: percent !== undefined, ...(unit && { unit }) };
}
