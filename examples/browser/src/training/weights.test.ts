/** The weights that come with the page are those of a cold start of today's sizes. */
import { readFileSync } from 'node:fs';
import { nativeBackend } from '@saccade/backend-native';
import { DataError } from '@saccade/core';
import { openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeParts, type Settings } from './parts.ts';
import { type Preset, presets, withLength } from './presets.ts';
import type { RunEvent } from './run.ts';
import { train } from './train.ts';
import { packWeights } from './weights.ts';

function shipped({ name }: Preset): ArrayBuffer {
  const bytes = readFileSync(new URL(`../cold-starts/${name}.safetensors`, import.meta.url));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

const settingsOf = (preset: Preset): Settings => ({
  preset,
  algorithm: 'pyvision-rl',
  hasToolBonus: true,
  seed: 1,
});

describe('the shipped cold start', () => {
  const device = openDevice(nativeBackend());
  afterAll(() => device.dispose());

  it.each(presets)(
    'of $name looks now and then, and learns without a cold start of its own',
    async (preset) => {
      const events: RunEvent[] = [];
      const options = {
        weights: shipped(preset),
        onEvent: (event: RunEvent) => events.push(event),
      };
      const short = { ...withLength(preset, 1, 0), evaluationTasks: 100 };
      await train(device, settingsOf(short), { ...options, pass: () => Promise.resolve() });
      const stages = events.flatMap((event) => (event.kind === 'progress' ? [event.stage] : []));
      expect(new Set(stages)).toEqual(new Set(['evaluation']));
      const [first] = events.flatMap((event) => (event.kind === 'evaluation' ? [event] : []));
      // A guess is right 25 times in 100, give or take 4; random weights never answer.
      expect(first?.accuracy).toBeGreaterThan(0.3);
      expect(first?.toolCalls).toBeGreaterThan(0.2);
      expect(device.allocatedBytes()).toBe(0);
    },
  );

  describe('as a file', () => {
    const tiny = presets.find(({ name }) => name === 'tiny') as Preset;
    let parts: ReturnType<typeof makeParts>;
    beforeAll(() => {
      parts = makeParts(device, settingsOf(tiny), shipped(tiny));
    });
    afterAll(() => parts.policy.dispose());

    it('is written as it was read', async () => {
      expect(await packWeights(parts.policy)).toEqual(new Uint8Array(shipped(tiny)));
    });

    it('is refused where it is of another size, or damaged', () => {
      const small = presets.find(({ name }) => name === 'small') as Preset;
      const open = (file: ArrayBuffer) => () => makeParts(device, settingsOf(tiny), file);
      expect(open(shipped(small))).toThrow(DataError);
      expect(open(shipped(small))).toThrow(/this policy has F16/);
      expect(open(new ArrayBuffer(3))).toThrow(/damaged/);
    });
  });
});
