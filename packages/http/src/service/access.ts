/** Access to a service: the host name in a request, the page that sends it, and the token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { ConfigError } from '@saccade/core';
import type { RefusalOptions } from './refusal.ts';

/** Who may use a service. Without a token it must listen on loopback, unless `allowsAnyone`. */
export interface AccessOptions {
  /** The address that the service listens on. */
  readonly host: string;
  /** Bearer token that callers must send. Required unless the host is the loopback. */
  readonly token?: string;
  /** Lets a service without a token listen beyond the loopback. Default false. */
  readonly allowsAnyone?: boolean;
  /** More host names under which the service is reached, for example a proxy's; without ports. */
  readonly allowedHosts?: readonly string[];
  /** A header that may carry the token in the place of `Authorization`, in lower case. */
  readonly tokenHeader?: string;
}

export interface Access {
  /** Whether the request has the token, or none is required. */
  isTrusted(request: IncomingMessage): boolean;
  /** The refusal of a request because of its method, host or page, if any. */
  refuse(request: IncomingMessage): RefusalOptions | undefined;
}

const METHODS: readonly unknown[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export const missingToken: RefusalOptions = {
  status: 401,
  code: 'unauthorized',
  fact: 'The token is missing or wrong.',
  remedy: 'Send the header "Authorization: Bearer <token>".',
  rule: 'token',
};

/**
 * For what takes long to open: says so before.
 *
 * @throws ConfigError if the service would be open to the network by mistake
 */
export function expectAccess({ host, token, allowsAnyone = false }: AccessOptions): void {
  if (token === '') throw new ConfigError('token', 'The token is empty. Choose a long random one.');
  if (token === undefined && !allowsAnyone && !isLoopback(host)) {
    throw new ConfigError(
      'token',
      `Anybody who reaches ${host} could use this service. Set a token, or listen on 127.0.0.1.`,
    );
  }
}

/** @throws ConfigError if the service would be open to the network by mistake */
export function openAccess(options: AccessOptions): Access {
  expectAccess(options);
  const { token, tokenHeader } = options;
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`);
  const allowed = allowedNames(options);
  return {
    // Digests have equal lengths, so the time of the comparison reveals nothing.
    isTrusted: ({ headers }) => {
      if (expected === undefined) return true;
      const own = tokenHeader === undefined ? undefined : headers[tokenHeader];
      const said = headers.authorization ?? (typeof own === 'string' ? `Bearer ${own}` : '');
      return timingSafeEqual(digest(said), expected);
    },
    refuse: (request) =>
      refuseMethod(request) ??
      refuseHost(request, allowed) ??
      (expected === undefined ? refuseOrigin(request) : undefined),
  };
}

/** Whether a host is this machine's loopback: `localhost`, `::1`, or an address in 127.0.0.0/8. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

type AllowedName = (name: string) => boolean;

/**
 * A page can point its own host name to this machine (DNS rebinding), but cannot choose the host
 * name in its requests. So a request must carry a name under which the service is known.
 */
function allowedNames({ host, allowedHosts = [] }: AccessOptions): AllowedName {
  const own = new Set([...allowedHosts, host].map((name) => name.toLowerCase()));
  const isWildcard = host === '0.0.0.0' || host === '::' || host === '';
  if (isWildcard) own.add(hostname().toLowerCase());
  const takesLoopback = isWildcard || isLoopback(host);
  return (name) => {
    if (own.has(name)) return true;
    if (takesLoopback && isLoopback(name)) return true;
    // An address is not a name, so nobody can point it elsewhere.
    return isWildcard && isIP(name) !== 0;
  };
}

function refuseMethod({ method }: IncomingMessage): RefusalOptions | undefined {
  if (METHODS.includes(method)) return undefined;
  const fact = `The method ${String(method).slice(0, 20)} is not served.`;
  return { status: 405, code: 'method', fact, remedy: 'Use GET, POST or DELETE.', rule: 'method' };
}

function refuseHost(request: IncomingMessage, isAllowed: AllowedName): RefusalOptions | undefined {
  const { headers, rawHeaders, url = '' } = request;
  const count = rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name)).length;
  const names = [nameOf(headers.host ?? '')];
  // In `GET http://name/path` the target has its own name.
  if (!url.startsWith('/') && url !== '*') names.push(nameInTarget(url));
  if (count === 1 && names.every((name) => name !== undefined && isAllowed(name))) return undefined;
  const said = (headers.host ?? 'no host').slice(0, 100);
  return {
    status: 403,
    code: 'host',
    fact: `This service is not known as ${JSON.stringify(said)}.`,
    remedy: 'Use the address that it printed, or start it with the name among its allowed hosts.',
    rule: 'host',
  };
}

/** `name:80`, `[::1]:80` or `name` without the port, in lower case; undefined for anything else. */
function nameOf(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header.slice(0, 300));
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function nameInTarget(target: string): string | undefined {
  return URL.canParse(target) ? nameOf(new URL(target).host) : undefined;
}

function refuseOrigin({ headers }: IncomingMessage): RefusalOptions | undefined {
  if (headers.origin === undefined) return undefined;
  return {
    status: 403,
    code: 'origin',
    fact: 'A web page may not use a service without a token.',
    remedy: 'Start the service with a token.',
    rule: 'origin',
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
