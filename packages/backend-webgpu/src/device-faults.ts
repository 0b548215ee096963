/** Faults of the device itself, which WebGPU reports later than they happen. */
import { type SaccadeError, StateError } from '@saccade/core';

export class DeviceFaults {
  readonly #device: GPUDevice;
  readonly #checks = new Set<Promise<void>>();
  #fault: { readonly error: SaccadeError; isReported: boolean } | undefined;
  #loss: StateError | undefined;

  constructor(device: GPUDevice) {
    this.#device = device;
    void device.lost.then(({ reason, message }) => {
      this.#loss = new StateError(
        `The WebGPU device was lost (${reason}): ${message || 'no reason given'} ` +
          'Its memory is gone. Open another backend and upload again.',
      );
    });
  }

  /** Set once the device is lost: nothing runs on it anymore. */
  get loss(): StateError | undefined {
    return this.#loss;
  }

  /** Runs calls on the device. If the device reports an error for them, the next wait throws it. */
  watch<Result>(
    filter: GPUErrorFilter,
    calls: () => Result,
    errorOf: (message: string) => SaccadeError,
  ): Result {
    this.#device.pushErrorScope(filter);
    const result = calls();
    const check: Promise<void> = this.#device
      .popErrorScope()
      .then(
        (found) => {
          if (found === null) return;
          const error = errorOf(found.message.trim());
          this.#fault ??= { error, isReported: false };
        },
        // A lost device does not answer; the loss is reported separately.
        () => {},
      )
      .finally(() => this.#checks.delete(check));
    this.#checks.add(check);
    return result;
  }

  /** Begins a wait: clears a fault that was already reported. */
  beginWait(): void {
    if (this.#fault?.isReported === true) this.#fault = undefined;
  }

  /** The error that a wait has to throw at its end, if any. */
  async endWait(): Promise<SaccadeError | undefined> {
    await Promise.all(this.#checks);
    if (this.#loss !== undefined) return this.#loss;
    if (this.#fault !== undefined) this.#fault.isReported = true;
    return this.#fault?.error;
  }

  /** The loss of the device, if it is reported within 100 ms. */
  async lossSoon(): Promise<StateError | undefined> {
    await Promise.race([this.#device.lost, new Promise((resolve) => setTimeout(resolve, 100))]);
    return this.#loss;
  }
}
