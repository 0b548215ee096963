/** Filters on trajectories made by hand. */
import { scriptedChat } from '@saccade/chat';
import type { Task } from '@saccade/gym';
import { type Action, type ToolResult, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { applyFilters } from './filter.ts';
import type { Candidate } from './play-tasks.ts';
import { filters } from './registry.ts';

const task: Task = { id: 't', question: 'Which?', images: [], answer: 'Red', metadata: {} };

/** Calls that end as given, then an answer, if there is one. */
function candidate(
  kinds: readonly ToolResult['kind'][],
  answer: string | undefined,
  isCorrect = true,
): Candidate {
  const builder = new TrajectoryBuilder({ id: `${kinds}/${answer}`, taskId: 't', sampleIndex: 0 });
  const tokens = Int32Array.of(1);
  const say = (action: Action, result?: ToolResult): void => {
    builder.model({ tokens, logprobs: Float32Array.of(0), text: 'x'.repeat(10), policyVersion: 0 });
    builder.turn(action, result);
  };
  builder.prompt({ tokens, images: [], text: 'Which?' });
  for (const kind of kinds) {
    say({ kind: 'code', code: 'x' }, { kind, stdout: '', stderr: '', imageCount: 0, wallMs: 1 });
    builder.observation({ tokens, images: [], text: 'seen' });
  }
  if (answer === undefined)
    return { task, trajectory: builder.finish('turnLimit'), isCorrect: false };
  say({ kind: 'answer', answer });
  return { task, trajectory: builder.finish('answered'), isCorrect };
}

const verdict = async (
  name: string,
  one: Candidate,
  settings: Record<string, unknown> = {},
  reply = '1',
) =>
  filters
    .get(name)
    .with(settings)
    .drops(one, { judge: scriptedChat(() => reply) });

describe('a filter', () => {
  it('drops wrong answers and none', async () => {
    expect(await verdict('wrong-answer', candidate([], 'Red'))).toBeUndefined();
    expect(await verdict('wrong-answer', candidate([], 'blue', false))).toBe('wrong answer');
    expect(await verdict('wrong-answer', candidate(['ok'], undefined))).toBe('ended as turnLimit');
  });

  it('takes the reference itself, boxed or not, and nothing near it', async () => {
    for (const answer of ['Red', ' red ', '\\boxed{Red}']) {
      expect(await verdict('exact-match', candidate([], answer))).toBeUndefined();
    }
    for (const answer of ['Red.', 'dark red', '\\boxed{Red}?x', '']) {
      expect(await verdict('exact-match', candidate([], answer))).toBeDefined();
    }
    expect(
      await verdict('exact-match', candidate([], 'red'), { ignoresCase: false }),
    ).toBeDefined();
  });

  it('counts tool turns, failures and characters', async () => {
    const three = candidate(['ok', 'exception', 'timeout'], 'Red');
    expect(await verdict('few-tool-turns', three, { least: 3, most: 3 })).toBeUndefined();
    expect(await verdict('few-tool-turns', three, { least: 4 })).toBe('fewer than 4 tool turns');
    expect(await verdict('few-tool-turns', three, { least: 0, most: 2 })).toMatch(/more than 2/);
    expect(await verdict('failed-executions', three)).toBe('failed execution: exception');
    expect(await verdict('failed-executions', three, { most: 2 })).toBeUndefined();
    expect(await verdict('length', three, { least: 41 })).toBe('shorter than 41 characters');
    expect(await verdict('length', three, { least: 40, most: 40 })).toBeUndefined();
    expect(await verdict('length', three, { most: 39 })).toBe('longer than 39 characters');
  });

  it('believes a judge within its bound, and names one that says nothing', async () => {
    const right = candidate(['ok'], 'Red');
    expect(await verdict('judge', right, {}, '0.5')).toBeUndefined();
    expect(await verdict('judge', right, { least: 0.75 }, '0.5')).toBe('the judge gave 0.5');
    expect(await verdict('judge', right, {}, 'Nice work!')).toBe('the judge gave no grade');
    const noJudge = async () => await filters.get('judge').with().drops(right, {});
    await expect(noJudge()).rejects.toThrow(/needs?|asks a judge/);
    expect(() => filters.get('length').with({ least: -1 })).toThrow(/filters.length.least/);
  });

  it('in a row with others sees what those before it kept, and every drop has one reason', async () => {
    const all = [
      candidate(['ok', 'ok'], 'Red'),
      candidate(['ok'], 'Red'),
      candidate(['ok', 'exception'], 'Red'),
      candidate([], 'blue', false),
      candidate(['ok', 'ok'], undefined),
    ];
    const row = ['wrong-answer', 'few-tool-turns', 'failed-executions'].map((n) =>
      filters.get(n).with(),
    );
    const { kept, counts } = await applyFilters(all, row);
    expect(kept).toEqual([all[0]]);
    expect(counts.map(({ given, kept: left }) => [given, left])).toEqual([
      [5, 3],
      [3, 2],
      [2, 1],
    ]);
    for (const { given, kept: left, reasons } of counts) {
      expect(Object.values(reasons).reduce((sum, count) => sum + count, 0)).toBe(given - left);
    }
  });
});
