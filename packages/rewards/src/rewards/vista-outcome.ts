/** The parts of VISTA-R1's rewards: repetition first, then format, then correctness. */
import type { Trajectory } from '@saccade/trajectory';
import type { RewardContext } from '../reward.ts';
import { modelTexts } from './model-text.ts';
import { repetition } from './repetition.ts';

const turnPattern =
  /^\s*<think>([\s\S]*?)<\/think>\s*(?:<tool_call>([\s\S]*?)<\/tool_call>|<answer>([\s\S]*?)<\/answer>)\s*$/;
const tag = /<\/?(think|tool_call|answer)>/;

/** Whether the text repeats itself by the settings of the `repetition` term: it then decides alone. */
export function repeats(context: RewardContext): boolean {
  return context.termValue(repetition) < 0;
}

/** Whether every turn conforms to the format and the text does not repeat itself. */
export function isWellFormed(trajectory: Trajectory, context: RewardContext): boolean {
  return !repeats(context) && conforms(trajectory);
}

/** A thought, then a call in every turn but the last, and an answer in that; no tag inside another. */
function conforms(trajectory: Trajectory): boolean {
  if (trajectory.stopReason !== 'answered') return false;
  const texts = modelTexts(trajectory);
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
