import type { RunEvent } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { formatDuration, terminalProgress } from './terminal-progress.ts';

/** The text that a run of 200 updates, a second each, writes to a stream. */
function show(stream: { isTTY?: boolean; columns?: number }, events?: readonly RunEvent[]): string {
  let text = '';
  let seconds = 0;
  const sink = terminalProgress({
    stream: { ...stream, write: (part) => (text += part) },
    now: () => seconds * 1000,
  });
  if (events !== undefined) {
    for (const event of events) sink(event);
    return text;
  }
  for (let done = 1; done <= 200; done++) {
    seconds++;
    sink({ kind: 'metrics', step: done, values: { accuracy: done / 200, loss: 1 / done } });
    sink({ kind: 'progress', stage: 'cold start', done, total: 200 });
  }
  return text;
}

describe('progress in a pipe', () => {
  it('is plain lines, one for every twentieth, without control characters', () => {
    const text = show({});
    // biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is what is tested
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(20);
    expect(lines.length).toBeLessThanOrEqual(21);
    expect(lines.at(-1)).toBe('cold start        200/200  in 3 min 19 s  accuracy 1  loss 5.0e-3');
  });

  it('says how much time is left from the pace so far', () => {
    expect(show({})).toContain('100/200  1 min 40 s left');
  });

  it('shows metrics that came before the first line of their stage, and no older ones', () => {
    const text = show({}, [
      { kind: 'metrics', step: 1, values: { loss: 2 } },
      { kind: 'progress', stage: 'cold start', done: 1, total: 1 },
      { kind: 'progress', stage: 'evaluation', done: 0, total: 8 },
      { kind: 'metrics', step: 2, values: { accuracy: 0.25, reward: 0.25, loss: 0 } },
      { kind: 'progress', stage: 'learning', done: 1, total: 2 },
    ]);
    expect(text.split('\n').map((line) => line.split(/\s{2,}/).slice(1))).toEqual([
      ['1/1', 'in 0 s', 'loss 2'],
      ['0/8'],
      ['1/2', 'accuracy 0.250', 'reward 0.250'],
      [],
    ]);
  });

  it('leaves the time of other stages out of what a stage took', () => {
    let text = '';
    let seconds = 0;
    const sink = terminalProgress({
      stream: { write: (part) => (text += part) },
      now: () => seconds * 1000,
    });
    const at = (second: number, stage: string, done: number, total: number) => {
      seconds = second;
      sink({ kind: 'progress', stage, done, total });
    };
    at(1, 'learning', 1, 4);
    at(2, 'learning', 2, 4);
    at(3, 'evaluation', 0, 8);
    at(10, 'evaluation', 8, 8);
    at(11, 'learning', 3, 4);
    at(12, 'learning', 4, 4);
    const lines = text.trimEnd().split('\n');
    expect(lines.slice(-3).map((line) => line.split(/\s{2,}/).slice(1))).toEqual([
      ['8/8', 'in 7 s'],
      ['3/4', '1 s left'],
      ['4/4', 'in 3 s'],
    ]);
  });

  it('gives warnings whole lines, and a repeated fallback one', () => {
    const fallback = { kind: 'fallback', op: 'gemm', from: 'a', to: 'b', reason: 'no' } as const;
    const text = show({}, [{ kind: 'warning', message: 'careful' }, fallback, fallback]);
    expect(text).toBe('warning: careful\nwarning: gemm runs on b instead of a: no\n');
  });
});

describe('progress on a terminal', () => {
  it('is one line, drawn again, as wide as the terminal at most, closed at the end', () => {
    const text = show({ isTTY: true, columns: 40 });
    const drawn = text.split('\r').slice(1);
    expect(drawn).toHaveLength(200);
    for (const line of drawn) {
      expect(line.startsWith('\u001b[K')).toBe(true);
      expect(line.slice(3).trimEnd().length).toBeLessThan(40);
    }
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(text.endsWith('\n')).toBe(true);
  });

  it('closes the line before a warning', () => {
    const text = show({ isTTY: true }, [
      { kind: 'progress', stage: 'learning', done: 1, total: 2 },
      { kind: 'warning', message: 'careful' },
    ]);
    expect(text).toMatch(/learning {10}1\/2\nwarning: careful\n$/);
  });
});

describe('durations', () => {
  it.each([
    [0.4, '0 s'],
    [59.4, '59 s'],
    [200, '3 min 20 s'],
    [3900, '1 h 05 min'],
  ])('writes %s seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
