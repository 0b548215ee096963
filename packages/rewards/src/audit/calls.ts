/** The calls of a trajectory as detectors count them, with what the analysis of code says. */

import type { TurnToolUse } from '@saccade/code-effects';
import { codeOf } from '@saccade/trajectory';
import type { Audited } from '../audit.ts';

export interface AuditedCall {
  readonly code: string;
  readonly use: TurnToolUse;
}

/** Executions in order. */
export function callsOf({ trajectory, context }: Audited): readonly AuditedCall[] {
  return context.toolUses.flatMap((use): readonly AuditedCall[] => {
    const action = trajectory.turns[use.turn]?.action;
    const code = action && codeOf(action);
    return code === undefined ? [] : [{ code, use }];
  });
}

/** Whether the code says something and does nothing else: prints of its own text, comments. */
export function isTalk({ isPrintOnly, isCommentOnly, isIncomplete }: TurnToolUse): boolean {
  return !isIncomplete && (isPrintOnly || isCommentOnly);
}
