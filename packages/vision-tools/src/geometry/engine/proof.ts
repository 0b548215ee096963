/** The steps that lead to a conclusion, from what was given on, as numbered lines. */
import type { Knowledge, Step } from './knowledge.ts';

export interface ProofLine {
  readonly number: number;
  readonly text: string;
  readonly reason: string;
  /** Numbers of the lines that it follows from. */
  readonly from: readonly number[];
}

/** Reasons that carry something over without saying anything: their lines are left out. */
const silent = new Set(['arithmetic']);

/** The lines that the premises rest on, in an order in which each follows from those before it. */
export function proofOf(knowledge: Knowledge, premises: readonly number[]): readonly ProofLine[] {
  const needed = new Set<number>();
  const open = [...premises];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    open.push(...(knowledge.steps[id]?.premises ?? []));
  }
  const numbers = new Map<number, number>();
  const lines: ProofLine[] = [];
  for (const id of [...needed].sort((a, b) => a - b)) {
    const step = knowledge.steps[id];
    if (step === undefined || silent.has(step.reason)) continue;
    numbers.set(id, lines.length + 1);
    const from = loud(knowledge, step)
      .map((premise) => numbers.get(premise))
      .filter((number) => number !== undefined);
    const sorted = [...new Set(from)].sort((a, b) => a - b);
    lines.push({ number: lines.length + 1, text: step.text, reason: step.reason, from: sorted });
  }
  return lines;
}

/** A step's premises, with those of silent ones in their place. */
function loud(knowledge: Knowledge, { premises }: Step, depth = 0): readonly number[] {
  return premises.flatMap((premise) => {
    const step = knowledge.steps[premise];
    if (step === undefined || !silent.has(step.reason) || depth > 50) return [premise];
    return loud(knowledge, step, depth + 1);
  });
}

/** `3. ∠ABC = 90° (angle in a semicircle; from 1, 2)`. */
export function writeProof(lines: readonly ProofLine[]): string {
  return lines
    .map(({ number, text, reason, from }) => {
      const source = from.length === 0 ? '' : `; from ${from.join(', ')}`;
      return `${number}. ${text} (${reason}${source})`;
    })
    .join('\n');
}
