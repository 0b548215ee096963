import { SaccadeError } from '@saccade/core';

/** A kernel, an oracle or a backend broke a rule that all of its kind must keep. */
export class ContractError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('contract', message, options);
  }
}
