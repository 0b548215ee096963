/** A device that remembers the most memory that it had allocated. */
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';

export interface MeasuredDevice {
  readonly device: Device;
  /** @returns tells by how many bytes at most what is allocated has grown since this call */
  measurePeak(): () => number;
}

export function measuredDevice(): MeasuredDevice {
  let peak = 0;
  const backend = nativeBackend({ threads: 2 });
  const alloc = backend.alloc.bind(backend);
  backend.alloc = (sizeBytes) => {
    const buffer = alloc(sizeBytes);
    peak = Math.max(peak, backend.allocatedBytes());
    return buffer;
  };
  const device = openDevice(backend);
  return {
    device,
    measurePeak() {
      const before = device.allocatedBytes();
      peak = before;
      return () => peak - before;
    },
  };
}
