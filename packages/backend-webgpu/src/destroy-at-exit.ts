/**
 * Devices that a Node process has to destroy before it ends: Dawn's threads may crash it if they
 * still work when the process tears itself down.
 */

const devices = new Set<WeakRef<GPUDevice>>();
let isListening = false;

/** Destroys the device at the end of the process; does nothing in a browser. */
export function destroyAtExit(device: GPUDevice): void {
  if (typeof process === 'undefined' || typeof process.once !== 'function') return;
  if (!isListening) process.once('exit', destroyAll);
  isListening = true;
  // This does not keep backends alive that were abandoned without dispose().
  for (const reference of devices) {
    if (reference.deref() === undefined) devices.delete(reference);
  }
  devices.add(new WeakRef(device));
}

function destroyAll(): void {
  for (const reference of devices) reference.deref()?.destroy();
}
