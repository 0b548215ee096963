/** What VISTA-R1's rewards are made of: repetition, format and correctness of a trajectory. */
import type { Trajectory } from '@saccade/trajectory';
import { valuesOf } from '../provenance.ts';
import type { RewardContext } from '../reward.ts';
import { modelTexts } from './model-text.ts';
import { repetitionVariants, severityOf } from './repetition.ts';

export interface VistaOutcome {
  /** R_rep. */
  readonly repetition: number;
  /** Every turn conforms, and there is no repetition. */
  readonly isWellFormed: boolean;
  /** Well-formed and right. */
  readonly isCredited: boolean;
}

const options = valuesOf(repetitionVariants.paper);
const turnPattern =
  /^\s*<think>([\s\S]*?)<\/think>\s*(?:<tool_call>([\s\S]*?)<\/tool_call>|<answer>([\s\S]*?)<\/answer>)\s*$/;
const tag = /<\/?(think|tool_call|answer)>/;

export function vistaOutcome(trajectory: Trajectory, context: RewardContext): VistaOutcome {
  const texts = modelTexts(trajectory);
  const repetition = Math.min(0, ...texts.map((text) => severityOf(text, options)));
  const isWellFormed = repetition === 0 && conforms(trajectory, texts);
  return { repetition, isWellFormed, isCredited: isWellFormed && context.isCorrect };
}

/** A thought, then a call in every turn but the last, and an answer in that; no tag inside another. */
function conforms({ stopReason }: Trajectory, texts: readonly string[]): boolean {
  if (stopReason !== 'answered') return false;
  return texts.every((text, index) => {
    const [whole, thought, call, answer] = turnPattern.exec(text) ?? [];
    if (whole === undefined) return false;
    const parts = [thought, call, answer].filter((part) => part !== undefined);
    if (parts.some((part) => tag.test(part))) return false;
    if (index === texts.length - 1) return answer !== undefined;
    return call !== undefined && isJson(call);
  });
}

function isJson(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null;
  } catch {
    return false;
  }
}
