/** Who may use the service. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigError } from '@saccade/core';
import type { MiddlewareHandler } from 'hono';
import { Refusal } from './refusal.ts';

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** @throws ConfigError where everybody on the network could run code */
export function checkAccess(host: string, token: string | undefined): void {
  if (token === '') throw new ConfigError('token', 'The token is empty. Choose a long random one.');
  if (token !== undefined || loopback.test(host)) return;
  throw new ConfigError(
    'token',
    `Anybody who reaches ${host} could run code here. Set a token, or listen on 127.0.0.1.`,
  );
}

/**
 * Lets requests with the token pass. Without a token only this machine's programs can ask, and no
 * web page may: a browser would send its requests for it.
 */
export function access(token: string | undefined): MiddlewareHandler {
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`);
  return async (context, next) => {
    if (expected === undefined) {
      if (context.req.header('origin') !== undefined) {
        throw new Refusal({
          status: 403,
          code: 'origin',
          fact: 'A web page may not use a sandbox without a token.',
          remedy: 'Start the service with a token.',
        });
      }
      return await next();
    }
    // Digests have one length, so that nothing is learned from the time it takes.
    if (timingSafeEqual(digest(context.req.header('authorization') ?? ''), expected)) {
      return await next();
    }
    throw new Refusal({
      status: 401,
      code: 'unauthorized',
      fact: 'The token is missing or wrong.',
      remedy: 'Send the header "Authorization: Bearer <token>".',
    });
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
