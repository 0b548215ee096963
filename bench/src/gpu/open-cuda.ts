/** The device that the stages on a GPU run on, or why there is none. */
import { cudaBackend, describeDevice, probeCuda } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';

export interface CudaChoice {
  /** The emulated library on the processor, for tests. */
  readonly emulated: boolean;
}

export type CudaState =
  | { readonly isThere: true; readonly description: string }
  | { readonly isThere: false; readonly reason: string };

/** Looks without opening anything. */
export function findCuda({ emulated }: CudaChoice): CudaState {
  const probe = probeCuda({ emulated });
  if (!probe.available) return { isThere: false, reason: probe.message };
  const usable = probe.devices.filter(({ obstacle }) => obstacle === undefined);
  return { isThere: true, description: usable.map(describeDevice).join('; ') };
}

/** @throws MissingError, CudaError */
export function openCuda({ emulated }: CudaChoice, poisonWorkspaces = false): Device {
  return openDevice(cudaBackend({ emulated, poisonWorkspaces }));
}
