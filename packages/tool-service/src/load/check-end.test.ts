import type { Outcome } from '@saccade/sandbox';
import { ToolError } from '@saccade/tools';
import { expect, it } from 'vitest';
import { Cancelled, digestOf, type Injected, wrongEnd } from './check-end.ts';

const outcome = {
  kind: 'ok',
  stdout: '7',
  stderr: '',
  images: [],
  wallMs: 1,
} as unknown as Outcome;
const reference = digestOf(outcome);
const failed = (message: string) => ({ error: new ToolError(message) });
const twice = failed('show_tool failed: It ended its process twice. It ended by signal SIGKILL.');
const once = failed('show_tool failed: It ended by signal SIGKILL.');

it.each<[Injected, Parameters<typeof wrongEnd>[1], boolean]>([
  ['none', { outcome }, true],
  ['none', { outcome: { ...outcome, stdout: '8' } }, false],
  ['none', twice, false],
  ['crash-once', { outcome }, true],
  ['crash-once', twice, true],
  ['crash-once', once, false],
  ['crash', twice, true],
  ['crash', { outcome }, false],
  ['cancel', { error: new Cancelled() }, true],
  ['cancel', once, false],
])('judges the end of a call with the fault %s (%#)', (injected, end, isRight) => {
  expect(wrongEnd(injected, end, reference) === undefined).toBe(isRight);
});
