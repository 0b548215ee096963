/** A service in a process of its own: signals, at any moment, end it in order. */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openEcho } from './echo.fixture.ts';
import { holdOpen } from './raw-socket.ts';
import { runService } from './run-service.ts';

describe('a service that is told to stop', () => {
  it('drains when the signal comes as soon as its address is printed', async () => {
    const before = process.listeners('SIGTERM');
    const lines: string[] = [];
    await runService({
      open: () => openEcho(),
      announce: ({ url }) => `at ${url}`,
      graceSeconds: 5,
      print: (line) => {
        lines.push(line);
        if (lines.length === 1) process.kill(process.pid, 'SIGTERM');
      },
    });
    expect(lines).toEqual([expect.stringMatching(/^at http/), expect.stringMatching(/^Finishing/)]);
    // Another's that listened once may be gone.
    const left = process.listeners('SIGTERM').filter((listener) => !before.includes(listener));
    expect(left).toEqual([]);
  });

  it('drains when the signal comes while it opens', async () => {
    await runService({
      open: async () => {
        process.kill(process.pid, 'SIGINT');
        await new Promise((next) => setTimeout(next, 50));
        return await openEcho();
      },
      announce: () => '',
      graceSeconds: 5,
      print: () => {},
    });
  });

  it('does not wait for its grace after a half-sent body', async () => {
    const events = new EventEmitter();
    const running = runService({
      open: () => openEcho(),
      announce: ({ url }) => url,
      // The test has no time for it.
      graceSeconds: 600,
      print: (line) => events.emit('line', line),
    });
    const [url] = (await new Promise<string[]>((resolve) => {
      events.once('line', (line: string) => resolve([line]));
    })) as [string];
    const head = 'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60\r\n\r\n{"code":';
    const held = holdOpen(url, head);
    await new Promise((next) => setTimeout(next, 100));
    process.kill(process.pid, 'SIGTERM');
    await running;
    held.destroy();
  });
});
