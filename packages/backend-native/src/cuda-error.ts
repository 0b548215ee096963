/** What a CUDA driver says, as one class. */
import { SaccadeError } from '@saccade/core';
import type { DriverError } from '@saccade/native';

/** A call of the driver failed, or the device is lost: the fact in the driver's words, a remedy. */
export class CudaError extends SaccadeError {
  /** The driver's name of it: `cudaErrorMemoryAllocation`. */
  readonly driver: string;
  /** Nothing runs on the device any more, and all that it held is gone. */
  readonly isLost: boolean;

  constructor(cause: DriverError) {
    super('cuda', cause.message, { cause });
    this.driver = cause.driver;
    this.isLost = cause.isLost;
  }
}

/** Whether the addon threw this for a driver. */
export function isDriverError(error: unknown): error is DriverError {
  return error instanceof Error && 'driver' in error && typeof error.driver === 'string';
}

/** Whether the device had no room for what was asked. */
export function isOutOfMemory(error: unknown): boolean {
  return isDriverError(error) && error.driver === 'cudaErrorMemoryAllocation';
}
