/** The parts of VISTA-R1's rewards: repetition first, then format, then correctness. */
import type { Trajectory } from '@saccade/trajectory';
import type { RewardContext } from '../reward.ts';
import { modelTexts } from './model-text.ts';
import { repetition } from './repetition.ts';

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
    const turn = readTurn(text.trim());
    if (turn === undefined) return false;
    const { thought, call, answer } = turn;
    const parts = [thought, call, answer].filter((part) => part !== undefined);
    if (parts.some((part) => tag.test(part))) return false;
    if (index === texts.length - 1) return answer !== undefined;
    return call !== undefined && isJson(call);
  });
}

interface Turn {
  readonly thought: string;
  readonly call?: string;
  readonly answer?: string;
}

/** A thought and one call or answer, with nothing around them; undefined for anything else. */
function readTurn(text: string): Turn | undefined {
  const close = '</think>';
  const end = text.indexOf(close);
  if (!text.startsWith('<think>') || end < 0) return undefined;
  const thought = text.slice('<think>'.length, end);
  const rest = text.slice(end + close.length).trimStart();
  const call = within(rest, 'tool_call');
  if (call !== undefined) return { thought, call };
  const answer = within(rest, 'answer');
  return answer === undefined ? undefined : { thought, answer };
}

function within(text: string, name: string): string | undefined {
  const open = `<${name}>`;
  const close = `</${name}>`;
  if (!text.startsWith(open) || !text.endsWith(close)) return undefined;
  return text.slice(open.length, -close.length);
}

function isJson(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null;
  } catch {
    return false;
  }
}
