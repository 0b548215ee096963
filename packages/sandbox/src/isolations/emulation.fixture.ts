/** For tests whose limits of time an emulated processor does not keep. */
import { emulationReason } from './micro-vm.ts';

/** @throws Error with the reason why a micro-VM is emulated here */
export async function refuseEmulation(): Promise<void> {
  const reason = await emulationReason();
  if (reason !== undefined) throw new Error(reason);
}
