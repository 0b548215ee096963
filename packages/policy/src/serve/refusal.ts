/** A request that the service will not serve: what is wrong with it, and a status. */
import { SaccadeError } from '@saccade/core';

export class Refusal extends SaccadeError {
  readonly status: 400 | 404 | 409 | 413;

  constructor(message: string, status: 400 | 404 | 409 | 413 = 400) {
    super('refusal', message);
    this.status = status;
  }
}
