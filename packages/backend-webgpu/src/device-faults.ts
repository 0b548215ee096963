/** What goes wrong with a device itself, which it says later than it happens. */
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
          'What it held is gone. Open another backend and upload again.',
      );
    });
  }

  /** Set once the device is lost: nothing runs on it any more. */
  get loss(): StateError | undefined {
    return this.#loss;
  }

  /** Runs calls on the device; what it finds wrong with them, the next wait throws. */
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
        // A lost device answers nothing; the loss is told on its own.
        () => {},
      )
      .finally(() => this.#checks.delete(check));
    this.#checks.add(check);
    return result;
  }

  /** A wait begins: a fault that others have been told of is over. */
  beginWait(): void {
    if (this.#fault?.isReported === true) this.#fault = undefined;
  }

  /** What a wait that ends has to throw. */
  async endWait(): Promise<SaccadeError | undefined> {
    await Promise.all(this.#checks);
    if (this.#loss !== undefined) return this.#loss;
    if (this.#fault !== undefined) this.#fault.isReported = true;
    return this.#fault?.error;
  }

  /** The loss, if the device turns out to be lost soon. */
  async lossSoon(): Promise<StateError | undefined> {
    await Promise.race([this.#device.lost, new Promise((resolve) => setTimeout(resolve, 100))]);
    return this.#loss;
  }
}
