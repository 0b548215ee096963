import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Sessions } from './sessions.ts';

const opened: Sessions<string>[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sessions) => sessions.endAll()));
});

function open(limits: { readonly maxSessions?: number; readonly idleSeconds?: number }) {
  const end = vi.fn(async (session: string) => {
    if (session === 'stuck') throw new Error('it cannot be closed');
  });
  const onFault = vi.fn();
  const sessions = new Sessions({ maxSessions: 2, idleSeconds: 600, ...limits }, end, onFault);
  opened.push(sessions);
  return { sessions, end, onFault };
}

describe('sessions', () => {
  it('have ids of 256 bits, and room for so many', async () => {
    const { sessions, end } = open({});
    expect(Buffer.from(sessions.newId(), 'base64url')).toHaveLength(32);
    sessions.add('a', 'first');
    expect(sessions.hasRoom).toBe(true);
    sessions.add('b', 'second');
    expect([sessions.count, sessions.hasRoom]).toEqual([2, false]);
    expect([await sessions.end('a'), await sessions.end('a')]).toEqual([true, false]);
    expect(end.mock.calls).toEqual([['first']]);
    expect(await sessions.use('a', async (session) => session)).toBeUndefined();
    expect(await sessions.use('b', async (session) => session)).toBe('second');
  });

  it('end once nobody uses them, not while somebody does', async () => {
    const { sessions, end } = open({ idleSeconds: 0.04 });
    sessions.add('a', 'idle');
    sessions.add('b', 'busy');
    await sessions.use('b', async () => {
      await vi.waitFor(() => expect(end.mock.calls).toEqual([['idle']]));
      await pause(100);
      expect(sessions.count).toBe(1);
    });
    await vi.waitFor(() => expect(end.mock.calls).toEqual([['idle'], ['busy']]));
  });

  it('tell that one which nobody uses cannot be closed', async () => {
    const { sessions, onFault } = open({ idleSeconds: 0.02 });
    sessions.add('a', 'stuck');
    await vi.waitFor(() => expect(onFault).toHaveBeenCalledWith(new Error('it cannot be closed')));
    expect(sessions.count).toBe(0);
  });
});
