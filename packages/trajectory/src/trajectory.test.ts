import { StateError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { TrajectoryBuilder } from './builder.ts';
import { checkTrajectory, trajectoryViolations } from './check.ts';
import { formatTrajectoryLine, parseTrajectoryLine } from './json.ts';
import { countToolCalls, type ToolResult, type Trajectory } from './trajectory.ts';

const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 0, wallMs: 1 };
const raised: ToolResult = { ...ran, kind: 'exception', errorType: 'NameError' };

function builder(): TrajectoryBuilder {
  const made = new TrajectoryBuilder({ id: 'needle-1/0', taskId: 'needle-1', sampleIndex: 0 });
  made.prompt({ tokens: Int32Array.of(1, 2, 3), images: [], text: 'look' });
  return made;
}

function speak(made: TrajectoryBuilder, policyVersion = 0): void {
  const tokens = Int32Array.of(4, 5);
  made.model({ tokens, logprobs: Float32Array.of(-0.5, -1), text: 'code', policyVersion });
}

function observe(made: TrajectoryBuilder): void {
  made.observation({ tokens: Int32Array.of(6), images: [], text: 'seen' });
}

function answered(toolTurns: number): Trajectory {
  const made = builder();
  for (let turn = 0; turn < toolTurns; turn++) {
    speak(made);
    made.turn({ kind: 'code', code: 'look()' }, ran);
    observe(made);
  }
  speak(made);
  made.turn({ kind: 'answer', answer: '7' });
  return made.finish('answered');
}

describe('TrajectoryBuilder', () => {
  it('builds a ledger that keeps its invariants', () => {
    const trajectory = answered(2);
    expect(trajectoryViolations(trajectory)).toEqual([]);
    expect(trajectory.segments.map((segment) => segment.kind)).toEqual([
      'prompt',
      'model',
      'observation',
      'model',
      'observation',
      'model',
    ]);
    expect(trajectory.answer).toBe('7');
  });

  it('counts and concatenates the context as it stands', () => {
    const made = builder();
    speak(made);
    expect(made.tokenCount).toBe(5);
    expect([...made.contextTokens()]).toEqual([1, 2, 3, 4, 5]);
  });

  it('leaves out an observation that no model segment follows', () => {
    const made = builder();
    speak(made);
    made.turn({ kind: 'code', code: 'look()' }, ran);
    observe(made);
    const trajectory = made.fail({ boundary: 'policy', message: 'the engine died' });
    expect(trajectory.segments.at(-1)?.kind).toBe('model');
    expect(trajectoryViolations(trajectory)).toEqual([]);
  });

  it('records the oldest policy version of its turns', () => {
    const made = builder();
    speak(made, 3);
    made.turn({ kind: 'code', code: 'look()' }, ran);
    observe(made);
    speak(made, 4);
    made.turn({ kind: 'invalid', reason: 'noCodeNorAnswer' });
    const trajectory = made.finish('invalidAction');
    expect(trajectory.policyVersion).toBe(3);
    // Only what newer weights sampled says so.
    expect(trajectory.segments.map((one) => one.policyVersion)).toEqual([
      undefined,
      undefined,
      undefined,
      4,
    ]);
    expect(trajectoryViolations(trajectory)).toEqual([]);
    const line = formatTrajectoryLine(trajectory, ({ name }) => name);
    expect(parseTrajectoryLine(line).trajectory).toEqual(trajectory);
    const older = { ...trajectory, policyVersion: 4 };
    expect(trajectoryViolations(older)).toEqual([
      "segment 3 (model) has policyVersion 4, not above the trajectory's",
    ]);
  });

  it('refuses what would break the order, and anything after the end', () => {
    const made = builder();
    expect(() => observe(made)).toThrow(StateError);
    speak(made);
    expect(() => speak(made)).toThrow(/the ledger holds prompt, model, with 0 turns/);
    expect(() => observe(made)).toThrow(StateError);
    made.turn({ kind: 'code', code: '1' }, ran);
    expect(() => made.turn({ kind: 'code', code: '1' }, ran)).toThrow(StateError);
    expect(() => made.finish('answered')).toThrow(/must have an answer/);
    made.finish('turnLimit');
    expect(() => observe(made)).toThrow(/has ended/);
  });

  it('refuses logprobs that are not one per token', () => {
    const logprobs = Float32Array.of(-1);
    const tokens = Int32Array.of(4, 5);
    const model = { tokens, logprobs, text: '', policyVersion: 0 };
    expect(() => builder().model(model)).toThrow(/got 1 for 2 tokens/);
  });
});

describe('checkTrajectory', () => {
  const good = answered(1);
  const [prompt, model, observation] = good.segments;
  const image = {
    name: 'image_clue_0',
    png: new Uint8Array(1),
    width: 8,
    height: 8,
    modelWidth: 8,
    modelHeight: 8,
    tokenCount: 2,
  };
  const withSegment = (index: number, change: object): Trajectory => ({
    ...good,
    segments: good.segments.map((segment, at) =>
      at === index ? { ...segment, ...change } : segment,
    ),
  });

  it.each<[string, Trajectory, RegExp]>([
    ['a missing prompt', { ...good, segments: [] }, /no prompt/],
    ['two prompts', withSegment(2, { kind: 'prompt' }), /segment 2 must be of kind observation/],
    ['an observation last', { ...good, segments: good.segments.slice(0, 3) }, /ends with an obs/],
    ['a model segment without logprobs', withSegment(1, { logprobs: undefined }), /no logprobs/],
    ['logprobs on a prompt', withSegment(0, { logprobs: new Float32Array(3) }), /has logprobs/],
    ['too few logprobs', withSegment(1, { logprobs: new Float32Array(1) }), /2 tokens and 1 logp/],
    ['a NaN', withSegment(1, { logprobs: Float32Array.of(Number.NaN, 0) }), /not finite/],
    ['an image by the model', withSegment(1, { images: [image] }), /has images/],
    ['an image name twice', withSegment(0, { images: [image, image] }), /two images are called/],
    ['too many placeholders', withSegment(2, { images: [image] }), /1 tokens, its images need 2/],
    ['an empty segment', withSegment(2, { tokens: new Int32Array(0) }), /no tokens/],
    ['a turn too few', { ...good, turns: good.turns.slice(1) }, /turn 0 points at segment 3/],
    ['a lost answer', { ...good, answer: 'x' }, /not that of its last turn/],
    ['an answer with another end', { ...good, stopReason: 'turnLimit' }, /an answer but is turnL/],
    ['a silent failure', { ...good, stopReason: 'failed' }, /has no failure/],
    ['a negative index', { ...good, sampleIndex: -1 }, /sampleIndex must be/],
  ])('names %s', (_, broken, message) => {
    expect([prompt, model, observation]).not.toContain(undefined);
    expect(() => checkTrajectory(broken)).toThrow(message);
  });
});

describe('countToolCalls', () => {
  it('counts executions that ran and were followed by another turn', () => {
    expect(countToolCalls(answered(4))).toBe(4);
    expect(countToolCalls(answered(0))).toBe(0);
  });

  it('does not count an execution that failed, nor one that was the last', () => {
    const made = builder();
    speak(made);
    made.turn({ kind: 'code', code: 'a' }, raised);
    observe(made);
    speak(made);
    made.turn({ kind: 'code', code: 'b' }, ran);
    expect(countToolCalls(made.finish('turnLimit'))).toBe(0);
  });
});
