import { SaccadeError } from '@saccade/core';

/**
 * A kernel, an oracle or a backend broke a rule of its contract; the message names the op and case.
 */
export class ContractError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('contract', message, options);
  }
}
