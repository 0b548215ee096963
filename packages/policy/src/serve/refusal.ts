/** Refusals of the policy's service, in vLLM's form. */
import { SaccadeError } from '@saccade/core';
import { Refusal, type RefusalWording } from '@saccade/http/service';

/** A refusal with one message: the fact, then the remedy. */
export function refused(message: string, status: 400 | 404 | 409 = 400): Refusal {
  return new Refusal({ status, code: 'bad-request', fact: message, remedy: '' });
}

export const policyWording: RefusalWording = ({ status, fact, remedy }) => {
  const message = `${fact} ${remedy}`.trim();
  const type =
    status === 404 ? 'NotFoundError' : status >= 500 ? 'InternalServerError' : 'BadRequestError';
  return { error: { message, type, code: status } };
};

/** Turns errors of the policy into refusals: prompts that are too long, tokens it does not have. */
export function asRefusal(error: unknown): Refusal | undefined {
  const isAsked = error instanceof SaccadeError && ['config', 'data'].includes(error.code);
  return isAsked ? refused(error.message) : undefined;
}
