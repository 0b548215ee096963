/** A session used like a process of its own: standard input, files before and after, a result code. */
import { badRequest, Refusal } from '@saccade/http/service';
import { z } from 'zod';
import type { Limits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import type { Session } from '../session.ts';

/** Bytes of a file that go into one execution; the code of one may have a megabyte. */
const pieceBytes = 512 * 1024;
/** Bytes that are read back of one file. */
const mostBytes = 16 * 1024 * 1024;
/** Bytes of standard input: they too go into one execution. */
const mostInputBytes = 512 * 1024;
/** Files that are read back of one run. */
const mostFiles = 64;

/** Paths of files to read back. */
export const fetchFilesSchema: z.ZodType<readonly string[]> = z
  .array(z.string())
  .max(mostFiles)
  .default([]);

/** How long the executions around a run may take, all together, and what ends them at once. */
export interface Pace {
  readonly signal: AbortSignal;
  readonly limits: Limits;
  /** Seconds that are left. */
  readonly left: () => number;
}

/** The pace of a run that begins now. */
export function paceOf(limits: Limits, signal: AbortSignal, seconds: number): Pace {
  const end = performance.now() + 1000 * seconds;
  return { signal, limits, left: () => (end - performance.now()) / 1000 };
}

/** Executes within what is left. */
function step(session: Session, code: string, { signal, limits, left }: Pace): Promise<Outcome> {
  return session.execute(code, {
    signal,
    wallSeconds: Math.max(0.001, Math.min(limits.wallSeconds, left())),
  });
}

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

/** @throws Refusal if a file cannot be written, or there is too much of standard input */
export async function prepare(
  session: Session,
  preparation: Preparation,
  pace: Pace,
): Promise<void> {
  const { files, stdin = '', memoryBytes } = preparation;
  if (Buffer.byteLength(stdin) > mostInputBytes) {
    throw new Refusal({
      status: 413,
      code: 'too-large',
      fact: `"stdin" has more than ${mostInputBytes} bytes.`,
      remedy: 'Send it as a file.',
    });
  }
  const lines = [
    'import io as _io, sys as _sys',
    `_sys.stdin = _io.TextIOWrapper(_io.BytesIO(${decode(stdin)}.encode()), 'utf-8')`,
    'del _io, _sys',
    standardInput,
  ];
  await done(session, lines.join('\n'), pace);
  for (const [path, encoded] of Object.entries(files)) {
    if (encoded !== null) await writeFile(session, path, encoded, pace);
  }
  if (memoryBytes !== undefined) await done(session, limitMemory(memoryBytes), pace);
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

async function writeFile(
  session: Session,
  path: string,
  encoded: string,
  pace: Pace,
): Promise<void> {
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
    const { kind, error } = await step(session, code, pace);
    if (kind !== 'ok') {
      const name = JSON.stringify(path.slice(0, 200));
      throw badRequest(`The file ${name} cannot be written: ${error?.message}.`);
    }
  }
}

async function done(session: Session, code: string, pace: Pace): Promise<void> {
  const { kind, error } = await step(session, code, pace);
  if (kind !== 'ok') throw new Error(`The session could not be prepared: ${error?.message}`);
}

/** Those of the files that are there, regular and not too large, base64. */
export async function fetchFiles(
  session: Session,
  paths: readonly string[],
  pace: Pace,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of paths) {
    if (pace.left() <= 0) break;
    const expression = `(lambda os, path: __import__('base64').b64encode(open(path, 'rb').read()).decode()
      if os.path.isfile(path) and os.path.getsize(path) <= ${mostBytes} else None)(__import__('os'), ${decode(path)})`;
    const encoded = await readText(session, expression, Math.ceil(mostBytes / 3) * 4, pace);
    if (encoded !== undefined) found[path] = encoded;
  }
  return found;
}

/**
 * A text that the session computes, ASCII. Nothing that the session says is believed: a length past
 * the bound, a piece of another length than asked for, or the end of the time give undefined.
 */
export async function readText(
  session: Session,
  expression: string,
  mostCharacters: number,
  pace: Pace,
): Promise<string | undefined> {
  const { outputBytes } = pace.limits;
  const measure = `_text = ${expression}\nprint(-1 if _text is None else len(_text))`;
  const measured = await step(session, measure, pace);
  if (measured.kind !== 'ok' || !/^\d{1,15}\n$/.test(measured.stdout)) return undefined;
  const length = Number(measured.stdout);
  if (length > mostCharacters) return undefined;
  const pieces: string[] = [];
  for (let at = 0; at < length; at += outputBytes) {
    if (pace.left() <= 0) return undefined;
    const code = `__import__('sys').stdout.write(_text[${at}:${at + outputBytes}])`;
    const { kind, stdout } = await step(session, code, pace);
    if (kind !== 'ok' || stdout.length !== Math.min(outputBytes, length - at)) return undefined;
    pieces.push(stdout);
  }
  await step(session, 'del _text', pace);
  return pieces.join('');
}

/** The return code that a process would have given. */
export function returnCodeOf({ kind, error }: Outcome): number {
  if (kind === 'ok') return 0;
  if (kind !== 'exception' || error?.type !== 'SystemExit') return 1;
  const { message } = error;
  if (message === '' || message === 'None') return 0;
  return /^-?\d+$/.test(message) ? Number(message) & 255 : 1;
}

/** The text that a process would have written to standard error. */
export function standardErrorOf({ kind, stderr, error }: Outcome): string {
  if (error === undefined || kind === 'ok') return stderr;
  if (error.type === 'SystemExit') {
    return /^(-?\d+|None|)$/.test(error.message) ? stderr : `${stderr}${error.message}\n`;
  }
  return `${stderr}${error.traceback === '' ? `${error.type}: ${error.message}\n` : error.traceback}`;
}
