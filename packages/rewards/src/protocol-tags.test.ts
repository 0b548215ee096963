import { type Protocol, protocols } from '@saccade/gym';
import {
  type Action,
  isToolUse,
  type ToolResult,
  type Trajectory,
  TrajectoryBuilder,
} from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { makeContext } from './context.ts';
import type { Reward } from './reward.ts';
import { formatCodedance } from './rewards/format-codedance.ts';
import { formatCodev } from './rewards/format-codev.ts';
import { formatCodevision } from './rewards/format-codevision.ts';
import { vistaFormat } from './rewards/vista-format.ts';
import { exact } from './verifiers/exact.ts';

const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 0, wallMs: 1 };
/** A trajectory of these texts, read by the protocol. */
function trajectoryOf(protocol: Protocol, texts: readonly string[]): Trajectory {
  const made = new TrajectoryBuilder({ id: 't/0', taskId: 't', sampleIndex: 0 });
  made.prompt({ tokens: Int32Array.of(1), images: [], text: 'question' });
  texts.forEach((text, turn) => {
    if (turn > 0) made.observation({ tokens: Int32Array.of(2), images: [], text: 'seen' });
    const logprobs = Float32Array.of(-1);
    made.model({ tokens: Int32Array.of(3), logprobs, text, policyVersion: 0 });
    const action = protocol.parse(text);
    made.turn(action, isToolUse(action) ? ran : undefined);
  });
  const last = protocol.parse(texts.at(-1) ?? '').kind;
  return made.finish(last === 'answer' ? 'answered' : 'invalidAction');
}

/** A look in the protocol's own form. */
function lookOf({ tools = [] }: Protocol): Action {
  const [tool] = tools;
  if (tool === undefined) return { kind: 'code', code: 'print(1)' };
  return { kind: 'toolCall', name: tool.name, arguments: tool.example };
}

describe.each<[string, Reward, number, number]>([
  ['codedance', formatCodedance, 0, -1],
  ['codev', formatCodev, 1, 0],
  ['codevision', formatCodevision, 1, 0],
  ['vista', vistaFormat, 1, -1],
])('protocol and format reward of %s', (name, reward, best, worst) => {
  const protocol = protocols.get(name);
  const look = protocol.write(lookOf(protocol), 'I look closer.');
  const answer = protocol.write({ kind: 'answer', answer: '7' }, 'It can be read now.');
  const scoreOf = (...texts: string[]): number => {
    const made = trajectoryOf(protocol, texts);
    const task = { answer: '7', metadata: {} };
    return reward.score(made, makeContext(made, task, { verifier: exact }));
  };

  it('agree on a conversation as the protocol writes it', () => {
    expect(trajectoryOf(protocol, [look, look, answer]).answer).toBe('7');
    expect(scoreOf(look, look, answer)).toBe(best);
    expect(scoreOf(answer)).toBe(best);
  });

  it('agree that it ends with one answer, and thoughts are closed', () => {
    expect(scoreOf(look)).toBe(worst);
    expect(scoreOf(look, answer.replace('</think>', ''))).toBe(worst);
    expect(scoreOf(look, `${answer}${answer}`)).toBe(worst);
  });
});
