import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Measurement, runMeasurement, type SignalSource } from './run-measurement.ts';

/** Signals that only tests send; notes the status with which the process would have ended. */
class Signals extends EventEmitter implements SignalSource {
  exitCode: number | undefined;
  exited: number | undefined;

  exit(status: number): void {
    this.exited = status;
  }
}

let folder: string;
let signals: Signals;
let said: string[];
let shown: number[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-measured-'));
  signals = new Signals();
  said = [];
  shown = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void said.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Rounds one after the other; `onRound` may send a signal. */
function rounds(count: number, onRound: (round: number) => void): Measurement<number> {
  return {
    kind: 'rounds',
    async measure(signal, keep) {
      for (let round = 1; round <= count; round++) {
        signal.throwIfAborted();
        onRound(round);
        keep(round);
      }
      return count;
    },
    show: (result) => shown.push(result),
    record: (result) => ({ rounds: result }),
  };
}

const measured = async (measurement: Measurement<number>) => {
  const json = join(folder, 'result.json');
  await runMeasurement({ json }, measurement, signals);
  return existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : undefined;
};

const load = { busyShare: expect.any(Number), processors: expect.any(Number) };

describe('a measurement', () => {
  it('says and stores the load of the machine before and after', async () => {
    const written = await measured(rounds(3, () => {}));
    expect(written).toEqual({
      rounds: 3,
      load: { before: expect.objectContaining(load), after: expect.objectContaining(load) },
    });
    expect(shown).toEqual([3]);
    expect(said.filter((line) => /^load (before|after): \d/.test(line))).toHaveLength(2);
    expect(signals.exitCode).toBeUndefined();
    expect(signals.eventNames()).toEqual([]);
  });

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`shows and stores what there is after ${signal}, and ends with ${status}`, async () => {
      const written = await measured(
        rounds(9, (round) => round === 4 && signals.emit(signal, signal)),
      );
      expect(shown).toEqual([4]);
      expect(written).toMatchObject({ rounds: 4, stoppedBy: signal, load: {} });
      expect(said.join('\n')).toContain(`Stopped by ${signal}: what was measured until then`);
      expect(signals.exitCode).toBe(status);
    });
  }

  it('says so where nothing was measured yet, and stores nothing', async () => {
    const stopping = rounds(9, () => {});
    const written = await measured({
      ...stopping,
      measure: (signal, keep) => {
        signals.emit('SIGINT', 'SIGINT');
        return stopping.measure(signal, keep);
      },
    });
    expect(written).toBeUndefined();
    expect(shown).toEqual([]);
    expect(said.at(-1)).toBe('Stopped by SIGINT before anything was measured.');
    expect(signals.exitCode).toBe(130);
  });

  it('shows what there is at once after a second signal', async () => {
    await measured(
      rounds(9, (round) => {
        if (round < 3) return;
        signals.emit('SIGINT', 'SIGINT');
        signals.emit('SIGTERM', 'SIGTERM');
        expect(shown).toEqual([2]);
      }),
    );
    expect(signals.exited).toBe(143);
  });

  it('lets go of what it opened, and passes on what it fails with', async () => {
    let closed = 0;
    const failing = measured({
      ...rounds(9, () => {
        throw new Error('wrong numbers');
      }),
      close: async () => void closed++,
    });
    await expect(failing).rejects.toThrow('wrong numbers');
    expect(closed).toBe(1);
    expect(signals.eventNames()).toEqual([]);
  });
});
