/** Answers input that is not HTTP, before any handler exists. */
import type { Duplex } from 'node:stream';
import type { RefusalOptions, RefusalWording, Rule } from './refusal.ts';

const badSyntax: RefusalOptions = {
  status: 400,
  code: 'malformed',
  fact: 'This is no HTTP request.',
  remedy: 'Send HTTP/1.1 as RFC 9112 describes it.',
  rule: 'malformed',
};

const tooSlow: RefusalOptions = {
  status: 408,
  code: 'slow-headers',
  fact: 'The request did not arrive in time.',
  remedy: 'Send it faster.',
  rule: 'slow-headers',
};

const largeHeaders: RefusalOptions = {
  status: 431,
  code: 'large-headers',
  fact: 'The headers have more than 16 KiB.',
  remedy: 'Send fewer.',
  rule: 'malformed',
};

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * Answers and closes the connection. Returns the broken rule, or undefined if the connection broke.
 */
export function answerMalformed(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  isAnswering: boolean,
  wording: RefusalWording,
): Rule | undefined {
  const refusal = refusalOf(error.code ?? '');
  if (refusal === undefined || !socket.writable || isAnswering) {
    socket.destroy();
    return refusal?.rule;
  }
  const body = JSON.stringify(wording(refusal));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${reasons[refusal.status]}\r\n` +
      'connection: close\r\ncontent-type: application/json\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
  return refusal.rule;
}

function refusalOf(code: string): RefusalOptions | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return largeHeaders;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow;
  return code.startsWith('HPE_') ? badSyntax : undefined;
}
