/** Carries what sums say over to ratios, and back: values, and measures that are multiples of others. */
import type { Fraction } from 'fraction.js';
import { Real } from '../numbers/real.ts';
import type { Knowledge } from './knowledge.ts';
import { type Linear, single, sum } from './measures.ts';

const reason = 'arithmetic';

/** @returns whether anything became known */
export function bridge(knowledge: Knowledge): boolean {
  const before = knowledge.version;
  for (const { id, domain } of knowledge.measures.unknowns) {
    if (domain === 'positive') carryValue(knowledge, id);
  }
  carryMultiples(knowledge);
  carryRatios(knowledge);
  return knowledge.version > before;
}

function carryValue(knowledge: Knowledge, id: number): void {
  const sums = knowledge.valueOf(id);
  const ratios = knowledge.ratio([[id, 1]]);
  if (sums !== undefined && sums.value.approx > 0 && ratios === undefined) {
    knowledge.addRatio([[id, 1]], sums.value, reason, sums.premises);
  }
  if (ratios !== undefined && sums === undefined) {
    knowledge.addSum(minus(single(id), ratios.value), reason, ratios.premises);
  }
}

/** Lengths whose sums are proportional: AB = 2x + 4 and CD = x + 2. */
function carryMultiples(knowledge: Knowledge): void {
  const seen = new Map<string, { readonly id: number; readonly lead: Fraction }>();
  for (const { id, domain } of knowledge.measures.unknowns) {
    if (domain !== 'positive') continue;
    const { value } = knowledge.reduced(single(id));
    const lead = leadOf(value);
    if (lead === undefined) continue;
    const key = knowledge.sumKey(sum([value, lead.inverse()]));
    const other = seen.get(key);
    if (other === undefined) {
      seen.set(key, { id, lead });
      continue;
    }
    if (
      knowledge.ratio([
        [id, 1],
        [other.id, -1],
      ]) !== undefined
    )
      continue;
    const factor = lead.div(other.lead);
    const difference = sum([single(id), 1], [single(other.id), factor.neg()]);
    const premises = knowledge.equal(difference, sum());
    if (premises === undefined || factor.s < 0n) continue;
    knowledge.addRatio(
      [
        [id, 1],
        [other.id, -1],
      ],
      Real.of(factor),
      reason,
      premises,
    );
  }
}

function leadOf({ terms }: Linear): Fraction | undefined {
  let lead: readonly [number, Fraction] | undefined;
  for (const term of terms) if (lead === undefined || term[0] < lead[0]) lead = term;
  return lead?.[1];
}

/** Lengths with a rational ratio. */
function carryRatios(knowledge: Knowledge): void {
  const seen = new Map<number, { readonly id: number; readonly multiple: Real }>();
  for (const { id, domain } of knowledge.measures.unknowns) {
    if (domain !== 'positive') continue;
    const multiple = knowledge.multipleOf(id);
    if (multiple === undefined) continue;
    const other = seen.get(multiple.base);
    if (other === undefined) {
      seen.set(multiple.base, { id, multiple: multiple.value });
      continue;
    }
    const factor = multiple.value.divide(other.multiple).rational;
    if (factor === undefined) continue;
    const difference = sum([single(id), 1], [single(other.id), factor.neg()]);
    if (knowledge.equal(difference, sum()) !== undefined) continue;
    const ratio = knowledge.ratio([
      [id, 1],
      [other.id, -1],
    ]);
    if (ratio !== undefined) knowledge.addSum(difference, reason, ratio.premises);
  }
}

function minus(linear: Linear, value: Real): Linear {
  return { terms: linear.terms, constant: linear.constant.subtract(value) };
}
