/** Launches that run beside JavaScript, on threads of their own, and who outlives whom. */
import { Worker } from 'node:worker_threads';
import { type Device, gemm, openDevice } from '@saccade/ops';
import { describe, it } from 'vitest';
import { nativeBackend } from './index.ts';
import { openElsewhere, testEnds, testQueue } from './queue-life.fixture.ts';

/** Some 100 ms. */
function keepBusy(device: Device): void {
  const x = device.upload('f32', [768, 768], new Float32Array(768 * 768).fill(1));
  for (let i = 0; i < 10; i++) device.free(device.forward(gemm, { x, w: x }).y);
  device.free(x);
}

describe('a queue', () => {
  testQueue(() => openDevice(nativeBackend({ threads: 2 })), keepBusy);
});

describe('a backend that goes', () => {
  const backend = 'nativeBackend({ threads: 2 })';
  testEnds({ backend, size: 768, launches: 40 });

  it('survives workers that are terminated while reads come back', async () => {
    const source = `${openElsewhere(backend)}
      import { parentPort } from 'node:worker_threads';
      const small = device.upload('f32', [64, 64], new Float32Array(64 * 64));
      parentPort.postMessage('running');
      for (;;) {
        const { y } = device.forward(gemm, { x: small, w: small });
        await Promise.all(Array.from({ length: 8 }, () => device.read(y)));
        device.free(y);
      }`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    for (let round = 0; round < 10; round++) {
      const workers = [0, 1, 2].map(() => new Worker(url, { execArgv: [] }));
      await Promise.all(
        workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))),
      );
      await new Promise((resolve) => setTimeout(resolve, round));
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
  });
});
