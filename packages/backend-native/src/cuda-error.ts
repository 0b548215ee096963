/** Errors of the CUDA driver, as one class. */
import { SaccadeError } from '@saccade/core';
import type { DriverError } from '@saccade/native';

/** A call of the driver failed, or the device is lost: the driver's message, and a remedy. */
export class CudaError extends SaccadeError {
  /** The driver's name of the error: `cudaErrorMemoryAllocation`. */
  readonly driver: string;
  /** True if nothing runs on the device anymore and its memory is lost. */
  readonly isLost: boolean;

  constructor(cause: DriverError) {
    super('cuda', cause.message, { cause });
    this.driver = cause.driver;
    this.isLost = cause.isLost;
  }
}

/** Whether the addon threw this because of a driver's error. */
export function isDriverError(error: unknown): error is DriverError {
  return error instanceof Error && 'driver' in error && typeof error.driver === 'string';
}

/** Whether the device had too little memory. */
export function isOutOfMemory(error: unknown): boolean {
  return isDriverError(error) && error.driver === 'cudaErrorMemoryAllocation';
}
