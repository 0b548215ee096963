/** A session used like a process of its own: standard input, files before and after, a result code. */
import { badRequest } from '@saccade/http/service';
import { z } from 'zod';
import type { Limits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import type { Session } from '../session.ts';

/** Bytes of a file that go into one execution; the code of one may have a megabyte. */
const pieceBytes = 512 * 1024;
/** Bytes that are read back of one file. */
const mostBytes = 16 * 1024 * 1024;

/** Files by path, base64; null stands for one that was named and not sent. */
export const filesSchema: z.ZodType<Readonly<Record<string, string | null>>> = z
  .record(z.string(), z.base64().nullable())
  .default({});

export interface Preparation {
  readonly files: Readonly<Record<string, string | null>>;
  readonly stdin?: string | undefined;
  /** Memory beyond what the interpreter has; not above the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
}

const text = (value: string): string => JSON.stringify(Buffer.from(value).toString('base64'));
const decode = (value: string): string => `__import__('base64').b64decode(${text(value)}).decode()`;

/** Reads standard input as a terminal-less interpreter does. */
const standardInput = `
def input(prompt='', /):
    import sys
    sys.stdout.write(str(prompt))
    line = sys.stdin.readline()
    if line == '':
        raise EOFError('EOF when reading a line')
    return line[:-1] if line.endswith('\\n') else line
`;

/** @throws Refusal if a file cannot be written */
export async function prepare(session: Session, preparation: Preparation): Promise<void> {
  const { files, stdin = '', memoryBytes } = preparation;
  const lines = [
    'import io as _io, sys as _sys',
    `_sys.stdin = _io.TextIOWrapper(_io.BytesIO(${decode(stdin)}.encode()), 'utf-8')`,
    'del _io, _sys',
    standardInput,
  ];
  await done(session, lines.join('\n'));
  for (const [path, encoded] of Object.entries(files)) {
    if (encoded !== null) await writeFile(session, path, encoded);
  }
  if (memoryBytes !== undefined) await done(session, limitMemory(memoryBytes));
}

function limitMemory(bytes: number): string {
  return `
def _limit():
    import mmap, resource
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    if most == resource.RLIM_INFINITY:
        return
    # There is no /proc to ask: what can still be mapped is what is not used.
    room, refused = 0, most
    while refused - room > 1 << 20:
        middle = (room + refused) // 2
        try:
            mmap.mmap(-1, middle, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
            room = middle
        except (OSError, ValueError):
            refused = middle
    if ${bytes} < room:
        wanted = most - room + ${bytes}
        resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
_limit()
del _limit`;
}

async function writeFile(session: Session, path: string, encoded: string): Promise<void> {
  const bytes = Buffer.from(encoded, 'base64');
  for (let at = 0; at === 0 || at < bytes.length; at += pieceBytes) {
    const piece = JSON.stringify(bytes.toString('base64', at, at + pieceBytes));
    const code = `
def _write(path, data):
    import base64, os
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, '${at === 0 ? 'wb' : 'ab'}') as file:
        file.write(base64.b64decode(data))
_write(${decode(path)}, ${piece})
del _write`;
    const { kind, error } = await session.execute(code);
    if (kind !== 'ok') {
      throw badRequest(`The file ${JSON.stringify(path)} cannot be written: ${error?.message}.`);
    }
  }
}

async function done(session: Session, code: string): Promise<void> {
  const { kind, error } = await session.execute(code);
  if (kind !== 'ok') throw new Error(`The session could not be prepared: ${error?.message}`);
}

/** Those of the files that are there, regular and not too large, base64. */
export async function fetchFiles(
  session: Session,
  paths: readonly string[],
  limits: Limits,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of paths) {
    const expression = `(lambda os, path: __import__('base64').b64encode(open(path, 'rb').read()).decode()
      if os.path.isfile(path) and os.path.getsize(path) <= ${mostBytes} else None)(__import__('os'), ${decode(path)})`;
    const encoded = await readText(session, expression, limits);
    if (encoded !== undefined) found[path] = encoded;
  }
  return found;
}

/** A text that the session computes, ASCII, however long; undefined for None or a failure. */
export async function readText(
  session: Session,
  expression: string,
  { outputBytes }: Limits,
): Promise<string | undefined> {
  const measure = `_text = ${expression}\nprint(-1 if _text is None else len(_text))`;
  const measured = await session.execute(measure);
  const length = measured.kind === 'ok' ? Number.parseInt(measured.stdout, 10) : -1;
  if (!(length >= 0)) return undefined;
  let read = '';
  for (let at = 0; at < length; at += outputBytes) {
    const code = `__import__('sys').stdout.write(_text[${at}:${at + outputBytes}])`;
    const { kind, stdout } = await session.execute(code);
    if (kind !== 'ok' || stdout.length === 0) return undefined;
    read += stdout;
  }
  await session.execute('del _text');
  return read.length === length ? read : undefined;
}

/** What a process would have returned. */
export function returnCodeOf({ kind, error }: Outcome): number {
  if (kind === 'ok') return 0;
  if (kind !== 'exception' || error?.type !== 'SystemExit') return 1;
  const { message } = error;
  if (message === '' || message === 'None') return 0;
  return /^-?\d+$/.test(message) ? Number(message) & 255 : 1;
}

/** What a process would have written to standard error. */
export function standardErrorOf({ kind, stderr, error }: Outcome): string {
  if (error === undefined || kind === 'ok') return stderr;
  if (error.type === 'SystemExit') {
    return /^(-?\d+|None|)$/.test(error.message) ? stderr : `${stderr}${error.message}\n`;
  }
  return `${stderr}${error.traceback === '' ? `${error.type}: ${error.message}\n` : error.traceback}`;
}
