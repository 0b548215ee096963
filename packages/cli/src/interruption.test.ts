/** What a person is told who presses Ctrl-C, phase by phase. */
import type { RunEvent } from '@saccade/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Interruption, listenForInterruption } from './interruption.ts';

let time = 0;
let said: string[] = [];
let open: Interruption | undefined;

function listen(): Interruption {
  time = 0;
  said = [];
  open = listenForInterruption({
    now: () => time,
    leaves: () => 'The last checkpoint stands.',
    onEvent: (event: RunEvent) => event.kind === 'warning' && said.push(event.message),
  });
  return open;
}

function progress(stage: string, done: number, total: number): void {
  open?.onEvent({ kind: 'progress', stage, done, total });
}

afterEach(() => {
  open?.dispose();
  vi.restoreAllMocks();
});

describe('the first signal', () => {
  it('stops at once where nothing was learned', () => {
    const { isRequested, signal } = listen();
    progress('demonstrations', 128, 400);
    expect(isRequested()).toBe(false);
    process.emit('SIGINT', 'SIGINT');
    expect([isRequested(), signal.aborted]).toEqual([true, true]);
    expect(said).toEqual([
      'SIGINT: stopping; nothing that was learned is lost. Once more stops at once.',
    ]);
  });

  it('says how long a step still takes, by the one before', () => {
    listen();
    progress('learning', 3, 40);
    time = 6000;
    progress('learning', 4, 40);
    time = 8000;
    process.emit('SIGTERM', 'SIGTERM');
    expect(said[0]).toBe(
      'SIGTERM: finishing this step and saving a checkpoint, about 4 s. Once more stops at once.',
    );
  });

  it('says that it does not know where no step has ended, and never less than a second', () => {
    listen();
    progress('cold start', 0, 40);
    process.emit('SIGINT', 'SIGINT');
    expect(said[0]).toContain('finishing this update and saving a checkpoint; how long that');
    open?.dispose();
    listen();
    progress('cold start', 0, 40);
    time = 200;
    progress('cold start', 1, 40);
    time = 5000;
    process.emit('SIGINT', 'SIGINT');
    expect(said[0]).toContain('about 1 s');
  });

  it('says how long an evaluation still takes, by its own rollouts', () => {
    listen();
    progress('learning', 5, 40);
    progress('evaluation step-5', 0, 200);
    time = 2000;
    progress('evaluation step-5', 40, 200);
    time = 3000;
    process.emit('SIGINT', 'SIGINT');
    expect(said[0]).toContain('finishing the evaluation and saving a checkpoint, about 7 s.');
  });
});

describe('the second signal', () => {
  it('ends the process and says what is left', () => {
    listen();
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect(exit).toHaveBeenCalledWith(130);
    expect(said[1]).toBe('SIGINT again: stopped at once. The last checkpoint stands.');
  });
});
