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
