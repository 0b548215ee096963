/** Launches on a stream beside JavaScript, and who outlives whom. */
import { add, type Device, openDevice } from '@saccade/ops';
import { describe, vi } from 'vitest';
import { targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';
import { testEnds, testQueue } from './queue-life.fixture.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 120_000 });

/** Queues work that takes an emulated device some 100 ms. */
function keepBusy(device: Device): void {
  const x = device.upload('f32', [1, 1 << 14], new Float32Array(1 << 14).fill(1));
  for (let i = 0; i < 40; i++) device.free(device.forward(add, { a: x, b: x }).y);
  device.free(x);
}

describe.each(targets)('a stream on $label', ({ options }) => {
  testQueue(() => openDevice(cudaBackend(options)), keepBusy);
});

describe('a backend that goes', () => {
  testEnds({ backend: 'cudaBackend({ emulated: true })', size: 32, launches: 20 });
});
