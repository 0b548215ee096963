/**
 * A hub on the loopback, for tests: it speaks as much of Hugging Face's API as a download needs.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A repository of the hub, and what goes wrong with it. */
export interface ServedRepo {
  readonly name: string;
  /** Default: a model. */
  readonly kind?: 'model' | 'dataset';
  readonly commit: string;
  readonly revisions: readonly string[];
  /** Contents by path; those above 1 kB are large files, known by their SHA-256. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Ends the connection after this many bytes of each answer of a large file. */
  breakAfterBytes?: number;
  /** Changes the bytes of this file on the way. */
  damagedFile?: string;
  /** The size that this file is listed with. */
  listedSize?: { readonly file: string; readonly sizeBytes: number };
  isGated?: boolean;
}

/** A hub that answers on the loopback until it is closed. */
export interface FakeHub {
  readonly url: string;
  /** `GET /owner/name/resolve/…`, with the range, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

const LARGE = 1024;

/** The SHA-256 of bytes in hexadecimal digits, as a hub names large files. */
export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');
const gitHash = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** Serves one repository. */
export async function openFakeHub(repo: ServedRepo): Promise<FakeHub> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.range ?? ''}`.trim());
    answer(repo, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answer(repo: ServedRepo, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://hub');
  const path = decodeURIComponent(pathname);
  const { name, commit, kind = 'model' } = repo;
  const info = `/api/${kind}s/${name}/revision/`;
  const tree = `/api/${kind}s/${name}/tree/`;
  const files = kind === 'dataset' ? `/datasets/${name}/resolve/` : `/${name}/resolve/`;
  const prefix = [info, tree, files].find((one) => path.startsWith(one));
  const [revision = '', ...rest] = path.slice(prefix?.length ?? 0).split('/');
  const bytes = repo.files.get(rest.join('/'));
  const error = errorOf(repo, prefix, revision, request);
  if (error !== undefined) {
    response.writeHead(error[0], { 'X-Error-Code': error[1] }).end(error[1]);
  } else if (prefix === info) {
    sendJson(response, { _id: '1', id: name, sha: commit, private: false });
  } else if (prefix === tree) {
    const entries = [...repo.files].map(([at, contents]) => listed(repo, at, contents));
    sendJson(response, [...entries, { type: 'directory', path: 'original', size: 0, oid: '0' }]);
  } else if (bytes === undefined) {
    response.writeHead(404, { 'X-Error-Code': 'EntryNotFound' }).end();
  } else {
    sendFile(repo, rest.join('/'), bytes, request, response);
  }
}

/** Status and code with which the hub refuses. */
function errorOf(
  { isGated, revisions, commit }: ServedRepo,
  prefix: string | undefined,
  revision: string,
  { headers }: IncomingMessage,
): [number, string] | undefined {
  if (prefix === undefined) return [401, 'RepoNotFound'];
  if (isGated === true && headers.authorization === undefined) return [401, 'GatedRepo'];
  return [...revisions, commit].includes(revision) ? undefined : [404, 'RevisionNotFound'];
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}

function listed({ listedSize }: ServedRepo, path: string, bytes: Uint8Array) {
  const size = listedSize?.file === path ? listedSize.sizeBytes : bytes.length;
  const lfs = { oid: sha256(bytes), size, pointerSize: 130 };
  return {
    type: 'file',
    path,
    size,
    oid: gitHash(bytes),
    ...(bytes.length > LARGE && { lfs }),
  };
}

function sendFile(
  repo: ServedRepo,
  path: string,
  whole: Uint8Array,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const start = Number(range?.[1] ?? 0);
  const end = range?.[2] ? Number(range[2]) + 1 : whole.length;
  const body = Buffer.from(whole.slice(start, end));
  if (repo.damagedFile === path && body.length > 1) {
    body[body.length - 1] = (body[body.length - 1] ?? 0) ^ 0xff;
  }
  response.writeHead(range === null ? 200 : 206, {
    'Content-Length': body.length,
    ETag: `"${whole.length > LARGE ? sha256(whole) : gitHash(whole)}"`,
    ...(range !== null && { 'Content-Range': `bytes ${start}-${end - 1}/${whole.length}` }),
  });
  const { breakAfterBytes = Number.POSITIVE_INFINITY } = repo;
  if (body.length <= breakAfterBytes) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, breakAfterBytes), () => {
    // Later than the bytes, so that they arrive.
    setTimeout(() => response.destroy(), 20);
  });
}
