/** The contract of services built with this kit: attacks that every one of them must withstand. */
import { type Random, randomAt } from '@saccade/core';
import { holdOpen, type RawAnswer, sendRaw } from './service/raw-socket.ts';

/** A running service to attack. */
export interface ServiceUnderTest {
  /** Its base URL, without a token, on this machine. */
  readonly url: string;
  /** Paths that accept a POST with a JSON body. */
  readonly paths: readonly string[];
  /** Its largest allowed body, in bytes: `bodies.maxBytes` of its app. */
  readonly maxBytes: number;
}

/** The result of `fuzzService`; a service passes if `problems` is empty. */
export interface FuzzReport {
  /** Number of requests sent. */
  readonly requests: number;
  /**
   * Number of answers by status. `closed`: the connection was closed without an answer; `waiting`:
   * the service was still waiting for announced bytes.
   */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests answered with 5xx, and health checks that failed or took longer than a second. */
  readonly problems: readonly string[];
  /** The slowest health check, in milliseconds; time that other processes used does not count. */
  readonly slowestHealthMs: number;
}

type Pick = Random['pick'];

const bodies: readonly string[] = [
  ...['', '{', '[', 'null', 'true', '0', '1e999', '""', '[]', '{}', '{"a":1}', 'no json', '\u0000'],
  ...['{"__proto__":{"x":1}}', '{"constructor":{"prototype":{}}}', '{"items":null}', '"\\ud800"'],
  '['.repeat(50_000),
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  '{"a":'.repeat(20_000),
  `[${'0,'.repeat(100_000)}0]`,
  `{"a":${'9'.repeat(100_000)}}`,
  `"${'\\u0041'.repeat(20_000)}"`,
  `"${'\\'.repeat(99_999)}"`,
  `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":${at}`).join(',')}}`,
];

/** Fields that our services and their protocols know. */
const fields: readonly string[] = [
  ...['code', 'language', 'files', 'fetch_files', 'stdin', 'cells', 'images', 'mode', 'capture'],
  ...['trajectory_ids', 'actions', 'extra_fields', 'finish', 'run_timeout', 'total_timeout'],
  ...['prompt', 'max_tokens', 'seed', 'stop', 'input_ids', 'image_data', 'sampling_params'],
  ...['token_ids', 'content_parts', 'items', 'query', 'prompts', 'labels', 'response', 'label'],
  ...['__proto__', 'constructor', 'deadlineSeconds', 'method', 'kwargs', 'request_ids', 'rid'],
];

const values: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    '',
    'python',
    'x'.repeat(5_000),
    [],
    {},
    [[]],
    [null],
  ],
  ...[{ '': '' }, ['a'], [1], { 'a/b': 'AAAA' }, '<python>'.repeat(5_000), '\u0000', '\ud800'],
  ...['data:image/png;base64,AAAA', ['data:image/png;base64,iVBORw0KGgo='], [{}], [{ name: 'a' }]],
];

const headers: readonly string[] = [
  ...['content-encoding: gzip', 'content-encoding: br', 'transfer-encoding: gzip', 'expect: 1'],
  ...['content-length: -1', 'content-length: 1e3', 'content-length: 5, 6', 'content-length: 0x10'],
  ...['transfer-encoding: chunked', 'transfer-encoding: chunked, chunked', 'connection: upgrade'],
  ...['upgrade: websocket', 'authorization: Bearer \u00ff', 'origin: null', 'host: elsewhere'],
  ...[
    'content-type: text/html',
    'content-type: \u00e9',
    'x y: z',
    'x:\u0000',
    ': empty',
    'nocolon',
  ],
  ...[`x: ${'y'.repeat(20_000)}`, 'range: bytes=0-', 'idempotency-key: a', 'trailer: x', 'te: x'],
];

const methods: readonly string[] = [
  ...[
    'GET',
    'HEAD',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'BREW',
    'post',
    'PRI',
  ],
];

const targets: readonly string[] = [
  ...[
    '/',
    '*',
    '//',
    '/%',
    '/%00',
    '/%ff',
    '/..',
    '/../../etc/passwd',
    '/a?b#c',
    '?',
    'x',
    '/\u0001',
  ],
  ...['http://elsewhere/health', 'http://[::1', 'http://', '/health?x', `/${'a'.repeat(15_000)}`],
  ...['/v1/sessions/__proto__', '/metrics/', '/Health', '/health/..', '/%2e%2e/health'],
];

function objectOf(pick: Pick): string {
  const entries = Array.from({ length: 6 }, () => [pick(fields), pick(values)]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** One malformed request, as the pieces that are written. */
function draw(pick: Pick, { paths, maxBytes }: ServiceUnderTest): readonly string[] {
  const path = pick(paths);
  const body = pick([() => pick(bodies), () => objectOf(pick), () => objectOf(pick)])();
  const length = Buffer.byteLength(body);
  const head = (line: string, ...lines: string[]): string =>
    `${[line, 'host: 127.0.0.1', ...lines].join('\r\n')}\r\n\r\n`;
  const post = `POST ${path} HTTP/1.1`;
  return pick<() => readonly string[]>([
    () => [head(post, `content-length: ${length}`), body],
    () => [head(post, `content-length: ${length}`, pick(headers)), body],
    () => [head(post, pick(headers), pick(headers)), body],
    () => [head(`${pick(methods)} ${path} HTTP/1.1`, `content-length: ${length}`), body],
    () => [head(`POST ${pick(targets)} HTTP/1.1`, `content-length: ${length}`), body],
    () => [head(`GET ${pick(targets)} HTTP/1.1`)],
    () => [head(`POST ${path} ${pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'http/1.1', ''])}`), body],
    () => [
      head(post, 'transfer-encoding: chunked'),
      `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    () => [
      head(post, 'transfer-encoding: chunked'),
      pick(['zz\r\n', '-1\r\n', 'fffffffffffffffff\r\n']),
    ],
    () => [
      head(post, 'transfer-encoding: chunked'),
      `5;${'e'.repeat(40_000)}\r\nhello\r\n0\r\n\r\n`,
    ],
    () => [head(post, `content-length: ${maxBytes + 1}`), body],
    () => [head(post, 'content-length: 99999999999999999999'), body],
    () => [`${post}\nhost: 127.0.0.1\ncontent-length: ${length}\n\n${body}`],
    () => [`${post}\r\ncontent-length: ${length}\r\n\r\n${body}`],
    () => [
      pick([
        '\r\n\r\n\r\n',
        '\u0016\u0003\u0001',
        'GET\r\n\r\n',
        '\u0000'.repeat(100),
        'PRI * HTTP/2.0\r\n\r\n',
      ]),
    ],
    () => [head(post, `content-length: ${length}`), `${body}${head('GET /nothing HTTP/1.1')}`],
  ])();
}

/** Whether the service waits for more bytes, as it may: the sender closes such requests. */
const isUnfinished = (answer: RawAnswer): boolean =>
  answer.status === undefined && !answer.isClosed;

/**
 * Sends malformed requests, and health checks at the same time. The service must answer each
 * request with 2xx or 4xx (or 503 with `Retry-After` while busy), close its connection, or still be
 * waiting for bytes that the request announced. Health must take at most a second. The service must
 * run in this process.
 *
 * @param seed  determines the requests
 */
export async function fuzzService(
  service: ServiceUnderTest,
  { requests = 400, seed = 1 }: { readonly requests?: number; readonly seed?: number } = {},
): Promise<FuzzReport> {
  const random = randomAt(seed, 'malformed requests');
  const pick: Pick = (items) => random.pick(items);
  const statuses: Record<string, number> = {};
  const problems: string[] = [];
  let slowestHealthMs = 0;
  let isDone = false;
  const health = (async () => {
    while (!isDone) {
      const began = performance.now();
      const used = process.cpuUsage();
      const ask = 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';
      const { status } = await sendRaw(service.url, [ask], { waitMs: 30_000 });
      const { user, system } = process.cpuUsage(used);
      // On a busy machine, only the time that this process used counts.
      const ms = Math.min(performance.now() - began, (user + system) / 1000);
      slowestHealthMs = Math.max(slowestHealthMs, ms);
      if (status !== 200) problems.push(`health answered ${status}`);
      await new Promise((next) => setTimeout(next, 50));
    }
  })();
  const holding = [1, 100, 100_000].map((length) =>
    holdOpen(
      service.url,
      `POST ${service.paths[0]} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${length}\r\n\r\n`,
    ),
  );
  for (let begun = 0; begun < requests; begun += 8) {
    const batch = Array.from({ length: 8 }, () => draw(pick, service));
    const answers = await Promise.all(
      batch.map((pieces) => sendRaw(service.url, pieces, { waitMs: 1_500 })),
    );
    for (const [index, answer] of answers.entries()) {
      const { status, text, isClosed } = answer;
      const key = status === undefined ? (isClosed ? 'closed' : 'waiting') : String(status);
      statuses[key] = (statuses[key] ?? 0) + 1;
      const isBusy = status === 503 && /retry-after/i.test(text);
      if (isUnfinished(answer) || status === undefined || status < 500 || isBusy) continue;
      problems.push(
        `${status} for ${JSON.stringify(batch[index]?.join('').slice(0, 300))}: ${text.slice(-300)}`,
      );
    }
  }
  isDone = true;
  await health;
  for (const socket of holding) socket.destroy();
  if (slowestHealthMs > 1000) problems.push(`health took ${Math.round(slowestHealthMs)} ms`);
  return { requests, statuses, problems, slowestHealthMs };
}

/** Longer than any test may take. */
const GRACE_SECONDS = 3600;

/**
 * Opens connections with a half-sent body, half-sent headers and nothing sent, then drains the
 * service with a grace of an hour. It waits for calls under way, and none of these is one.
 */
export async function drainUnderHalfSentBodies(
  service: ServiceUnderTest & { drain(graceSeconds: number): Promise<void> },
): Promise<void> {
  const sockets = service.paths.flatMap((path) => [
    holdOpen(
      service.url,
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 60\r\n\r\n{"code":`,
    ),
    holdOpen(
      service.url,
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"co`,
    ),
    holdOpen(service.url, `POST ${path} HTTP/1.1\r\nhost: 127`),
    holdOpen(service.url, ''),
  ]);
  await new Promise((next) => setTimeout(next, 200));
  await service.drain(GRACE_SECONDS);
  for (const socket of sockets) socket.destroy();
}
