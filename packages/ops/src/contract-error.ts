import { SaccadeError } from '@saccade/core';

/** A kernel or an oracle broke a rule that every op must keep. */
export class ContractError extends SaccadeError {
  constructor(message: string) {
    super('contract', message);
  }
}
