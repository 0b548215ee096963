/** From frames to outcomes. What a session sends is submitted code's word: nothing is assumed. */
import type { Limits } from './limits.ts';
import type { CapturedImage, CodeError, Outcome, OutcomeKind, Repair } from './outcome.ts';
import type { Frame } from './wire.ts';

/** How the server saw a session's process end. */
export interface End {
  /**
   * `close` on our order, `timeout` of wall time, `memory` where the kernel ended a process of it,
   * `protocol` for broken frames, else `exit`.
   */
  readonly cause: string;
  readonly signal: number;
  readonly exitCode: number;
  readonly cpuMs: number;
  readonly maxRssKb: number;
}

/** Why a session runs no more code. */
export interface Death {
  readonly kind: OutcomeKind;
  readonly message: string;
}

const resultKinds: readonly unknown[] = ['ok', 'exception', 'memory', 'forbidden'];
const streams: readonly unknown[] = ['stdout', 'stderr', 'images'];
const sigxcpu = 24;
const pngHead = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The outcome of an execution that told nothing itself. */
export function silentOutcome(
  { kind, message }: Death,
  tier: string,
  usage: { wallMs: number; cpuMs: number; maxRssKb: number } = none,
): Outcome {
  const error: CodeError = { type: errorTypes[kind] ?? 'Error', message, traceback: '' };
  const { wallMs, cpuMs, maxRssKb } = usage;
  const nothing = { stdout: '', stderr: '', images: [], truncated: [] };
  return { kind, ...nothing, error, wallMs, cpuMs: Math.max(0, cpuMs), maxRssKb, tier };
}

const none = { wallMs: 0, cpuMs: 0, maxRssKb: 0 };

const errorTypes: Partial<Record<OutcomeKind, string>> = {
  timeout: 'Timeout',
  memory: 'MemoryError',
  crashed: 'Crash',
  forbidden: 'Forbidden',
  infraError: 'SandboxError',
};

/** What the kernel does where a session needs more than its limit. */
export function memoryDeath(limits: Limits): Death {
  const most = Math.round(limits.sessionMemoryBytes / 2 ** 20);
  const message =
    `The session's processes and files needed more than ${most} MiB of memory together, and the ` +
    'kernel ended a process. Hold less at a time.';
  return { kind: 'memory', message };
}

/** The outcome of an execution in whose time the kernel ended a process for the session's memory. */
export function asMemoryHit(outcome: Outcome, limits: Limits): Outcome {
  if (outcome.kind === 'memory') return outcome;
  const { kind, message } = memoryDeath(limits);
  return { ...outcome, kind, error: { type: 'MemoryError', message, traceback: '' } };
}

/** What the end of its process says about the code that was running. */
export function deathFrom(end: End, limits: Limits): Death {
  if (end.cause === 'timeout') {
    const message = `The code was stopped after ${limits.wallSeconds} s. Do less in one execution.`;
    return { kind: 'timeout', message };
  }
  if (end.cause === 'memory') return memoryDeath(limits);
  if (end.signal === sigxcpu) {
    const message = `The code used more than ${limits.cpuSeconds} s of processor time and was stopped.`;
    return { kind: 'timeout', message };
  }
  if (end.cause === 'fork') {
    const message = 'The code was not run: the session could not make another process for it.';
    return { kind: 'crashed', message };
  }
  if (end.cause === 'close') return { kind: 'crashed', message: 'The session was ended.' };
  const how =
    end.cause === 'protocol'
      ? 'by writing to the channel of its results'
      : end.signal !== 0
        ? `by signal ${end.signal}`
        : `with exit status ${end.exitCode}`;
  return { kind: 'crashed', message: `The code ended the interpreter ${how}.` };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function readError(value: unknown): CodeError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, message, line, traceback } = value as Record<string, unknown>;
  if (typeof type !== 'string' || typeof message !== 'string') return undefined;
  if (typeof traceback !== 'string') return undefined;
  const error = { type, message, traceback };
  return Number.isInteger(line) ? { ...error, line: line as number } : error;
}

function readOrigin(value: unknown): CapturedImage['origin'] {
  if (typeof value !== 'object' || value === null) return undefined;
  const { image, map } = value as { image?: unknown; map?: unknown };
  if (typeof image !== 'string' || !Array.isArray(map) || map.length !== 6) return undefined;
  if (!map.every((number) => typeof number === 'number' && Number.isFinite(number))) {
    return undefined;
  }
  const [a, b, c, d, e, f] = map as [number, number, number, number, number, number];
  return { image, map: [a, b, c, d, e, f] };
}

const imageSources: readonly unknown[] = ['figure', 'image', 'value', 'file'];

/** One line of text; nothing here is opened by it. */
function isFileName(value: unknown): boolean {
  return typeof value === 'string' && /^\P{Cc}{1,1024}$/u.test(value);
}

function readImage(entry: unknown, png: Uint8Array, limits: Limits): CapturedImage | undefined {
  if (png.length < 33 || !pngHead.equals(png.subarray(0, 8))) return undefined;
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  const { source, file, origin: claimed } = entry as Record<string, unknown>;
  if (width * height > limits.imagePixels || width < 1 || height < 1) return undefined;
  if (!imageSources.includes(source)) return undefined;
  if (source === 'file' ? !isFileName(file) : file !== undefined) return undefined;
  const origin = readOrigin(claimed);
  return {
    png,
    width,
    height,
    source: source as CapturedImage['source'],
    ...(source === 'file' && { file: file as string }),
    ...(origin && { origin }),
  };
}

const repairKinds: readonly unknown[] = ['indentation', 'imagePath', 'cropBox'];

function readRepairs(value: unknown): readonly Repair[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > 20) return undefined;
  const repairs: Repair[] = [];
  for (const entry of value as Record<string, unknown>[]) {
    const { kind, before, after, line } = entry ?? {};
    if (!repairKinds.includes(kind)) return undefined;
    if (typeof before !== 'string' || typeof after !== 'string') return undefined;
    if (before.length > 1000 || after.length > 1000) return undefined;
    const repair = { kind: kind as Repair['kind'], before, after };
    repairs.push(Number.isInteger(line) ? { ...repair, line: line as number } : repair);
  }
  return repairs;
}

/** The outcome of an execution that ended its process and left the session, in a `died` frame. */
export function readDeath(
  { header }: Frame,
  limits: Limits,
  tier: string,
  cpuBeforeMs: number,
): { outcome: Outcome; cpuTotalMs: number } | undefined {
  const { cause, signal, exitCode, wallMs, cpuMs, maxRssKb } = header;
  if (header.type !== 'died' || typeof cause !== 'string') return undefined;
  if (!isNumber(signal) || !isNumber(exitCode)) return undefined;
  if (!isNumber(wallMs) || !isNumber(cpuMs) || !isNumber(maxRssKb)) return undefined;
  const death = deathFrom({ cause, signal, exitCode, cpuMs, maxRssKb }, limits);
  const outcome = silentOutcome(death, tier, { wallMs, cpuMs: cpuMs - cpuBeforeMs, maxRssKb });
  return { outcome: { ...outcome, rolledBack: true }, cpuTotalMs: cpuMs };
}

/** The outcome in a session's `result` frame and its total CPU time; undefined if it is none. */
export function readResult(
  { header, blobs }: Frame,
  limits: Limits,
  tier: string,
  cpuBeforeMs: number,
): { outcome: Outcome; cpuTotalMs: number } | undefined {
  const { kind, stdout, stderr, truncated, wallMs, cpuMs, maxRssKb } = header;
  if (header.type !== 'result' || !resultKinds.includes(kind)) return undefined;
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return undefined;
  if (stdout.length > limits.outputBytes || stderr.length > limits.outputBytes) return undefined;
  if (!isNumber(wallMs) || !isNumber(cpuMs) || !isNumber(maxRssKb)) return undefined;
  if (!Array.isArray(truncated) || !truncated.every((name) => streams.includes(name))) {
    return undefined;
  }
  const entries = header.images;
  if (!Array.isArray(entries) || entries.length !== blobs.length) return undefined;
  if (blobs.length > limits.imageCount) return undefined;
  const images: CapturedImage[] = [];
  for (const [index, png] of blobs.entries()) {
    const image = readImage(entries[index] ?? {}, png, limits);
    if (image === undefined) return undefined;
    images.push(image);
  }
  const error = readError(header.error);
  if (kind !== 'ok' && error === undefined) return undefined;
  const repairs = readRepairs(header.repairs);
  if (repairs === undefined) return undefined;
  const outcome: Outcome = {
    kind: kind as OutcomeKind,
    stdout,
    stderr,
    images,
    ...(error === undefined ? {} : { error }),
    truncated: truncated as Outcome['truncated'],
    ...(repairs.length > 0 ? { repairs } : {}),
    ...(header.rolledBack === true ? { rolledBack: true as const } : {}),
    wallMs,
    cpuMs: Math.max(0, cpuMs - cpuBeforeMs),
    maxRssKb,
    tier,
  };
  return { outcome, cpuTotalMs: cpuMs };
}
