/// <reference types="@webgpu/types" preserve="true" />
/**
 * Devices that a Node process has to destroy before it ends: Dawn's threads may crash it if they
 * still work when the process tears itself down.
 */

const devices = new Set<WeakRef<GPUDevice>>();
let isListening = false;

/** Sees to the device at the end of the process; without effect in a browser. */
export function destroyAtExit(device: GPUDevice): void {
  if (typeof process === 'undefined' || typeof process.once !== 'function') return;
  if (!isListening) process.once('exit', destroyAll);
  isListening = true;
  // Backends that were given up without dispose() are not kept alive by this.
  for (const reference of devices) {
    if (reference.deref() === undefined) devices.delete(reference);
  }
  devices.add(new WeakRef(device));
}

function destroyAll(): void {
  for (const reference of devices) reference.deref()?.destroy();
}
