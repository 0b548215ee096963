/// <reference types="@webgpu/types" preserve="true" />
/** Detects work that a peer's WebGPU device refuses: libraries do not notice, and it looks fast. */
import { UnsupportedError } from '@saccade/core';

/**
 * A wait for a device's queue.
 *
 * @returns a function that resolves when what was submitted has run
 * @throws  (that function) UnsupportedError if the device refused any of it
 */
export function waitOn(peer: string, device: GPUDevice): () => Promise<void> {
  let refused: string | undefined;
  device.addEventListener('uncapturederror', (event) => {
    refused ??= event.error.message.split('\n')[0];
    event.preventDefault();
  });
  return async () => {
    await device.queue.onSubmittedWorkDone();
    if (refused === undefined) return;
    const message = `${peer}: its device refused work: ${refused}`;
    refused = undefined;
    throw new UnsupportedError(message);
  };
}
