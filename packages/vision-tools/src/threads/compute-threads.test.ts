import { describe, expect, it } from 'vitest';
import { compute } from './compute-threads.ts';

const solve = (question: string, deadlineMs = 60_000, signal?: AbortSignal) =>
  compute(
    { kind: 'mathematics', question, choices: [] },
    { deadlineMs, ...(signal !== undefined && { signal }) },
  );

describe('a computation', () => {
  it('has its answer, or the reason why there is none', async () => {
    expect((await solve('Solve 2x = 6 for x.')).answer).toBe('x = 3');
    await expect(solve('What a fine day!')).rejects.toMatchObject({ type: 'CannotAnswer' });
  });

  it('is ended at its deadline', async () => {
    await expect(solve('Solve 2x = 6 for x.', 1)).rejects.toMatchObject({ type: 'TooLong' });
  });

  it('is ended when its caller leaves', async () => {
    const leaving = new AbortController();
    const left = solve('Solve 2x = 6 for x.', 60_000, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(solve('x = 1', 60_000, leaving.signal)).rejects.toThrow('gone');
  });

  it('waits for a thread, whatever becomes of those before it', async () => {
    const given = Array.from({ length: 10 }, (_, index) =>
      solve(`${index} + 1`, index % 3 || 60_000),
    );
    const ends = await Promise.allSettled(given);
    expect(ends.map(({ status }) => status)).toEqual(
      given.map((_, index) => (index % 3 === 0 ? 'fulfilled' : 'rejected')),
    );
    expect((await solve('20 + 1')).answer).toContain('21');
  });
}, 120_000);
