/** Firecracker's interface: requests with JSON over a Unix socket, described by its OpenAPI file. */
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@saccade/core';
import { MachineError } from '../../errors.ts';
import type { StartedProcess } from '../../isolation.ts';

export interface FirecrackerTimes {
  /** Until it listens. */
  readonly listenSeconds: number;
  /** For each answer. */
  readonly answerSeconds: number;
  /** Until a machine is saved, or loaded. */
  readonly savingSeconds: number;
  /** Until the server in a new machine can be reached. */
  readonly startSeconds: number;
  /** Until it can be reached in a copy, which has nothing to load. */
  readonly copySeconds: number;
}

export const firecrackerTimes: FirecrackerTimes = {
  listenSeconds: 20,
  answerSeconds: 10,
  savingSeconds: 60,
  startSeconds: 60,
  copySeconds: 20,
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface FirecrackerPlace {
  /** The socket of its interface. */
  readonly socket: string;
  readonly process: StartedProcess;
  readonly times: FirecrackerTimes;
}

export class FirecrackerApi {
  readonly #place: FirecrackerPlace;

  private constructor(place: FirecrackerPlace) {
    this.#place = place;
  }

  /** Waits until it listens. @throws MachineError if it does not, or is no Firecracker */
  static async open(place: FirecrackerPlace): Promise<FirecrackerApi> {
    const { socket, process, times } = place;
    const api = new FirecrackerApi(place);
    const end = performance.now() + times.listenSeconds * 1000;
    for (;;) {
      try {
        const { status, text } = await send(socket, 'GET', '/', undefined, {
          milliseconds: times.answerSeconds * 1000,
          ended: process.ended,
        });
        if (status !== 200 || !isFresh(text)) {
          throw failure('GET /', `it answered ${status}: ${text.slice(0, 200)}`, process);
        }
        return api;
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? '';
        const isEarly = code === 'ENOENT' || code === 'ECONNREFUSED';
        if (process.ended.aborted || !isEarly || performance.now() > end) {
          throw asMachineError('GET /', error, process);
        }
        await pause(2);
      }
    }
  }

  /**
   * @param seconds  how long the answer may take
   * @throws MachineError with the `fault_message`, if it refuses, and if it does not answer
   */
  async put(path: string, body: object, seconds?: number): Promise<void> {
    await this.#order('PUT', path, body, seconds);
  }

  /** As `put`. */
  async patch(path: string, body: object, seconds?: number): Promise<void> {
    await this.#order('PATCH', path, body, seconds);
  }

  async #order(method: string, path: string, body: object, seconds?: number): Promise<void> {
    const { socket, process, times } = this.#place;
    const step = `${method} ${path}`;
    let answer: Answer;
    try {
      answer = await send(socket, method, path, JSON.stringify(body), {
        milliseconds: (seconds ?? times.answerSeconds) * 1000,
        ended: process.ended,
      });
    } catch (error) {
      throw asMachineError(step, error, process);
    }
    if (answer.status === 204) return;
    const reason = faultOf(answer.text) ?? answer.text.slice(0, 200);
    throw failure(step, `it refused with status ${answer.status}: ${reason}`, process);
  }
}

function isFresh(text: string): boolean {
  try {
    const info = JSON.parse(text) as { readonly app_name?: unknown; readonly state?: unknown };
    return info.app_name === 'Firecracker' && info.state === 'Not started';
  } catch {
    return false;
  }
}

function faultOf(text: string): string | undefined {
  try {
    const { fault_message: fault } = JSON.parse(text) as { readonly fault_message?: unknown };
    return typeof fault === 'string' ? fault : undefined;
  } catch {
    return undefined;
  }
}

/** A failed step, with the end of what the process said. */
function failure(
  step: string,
  fact: string,
  process: StartedProcess,
  cause?: unknown,
): MachineError {
  const said = process.said();
  const words = said === '' ? '' : ` It said: ${said}.`;
  return new MachineError(
    'firecracker',
    step,
    `${fact.replace(/\.$/, '')}.${words}`,
    "Check that Firecracker's version and the kernel fit this machine, or set " +
      "`microVm: { engine: 'qemu' }`.",
    { cause },
  );
}

export function asMachineError(
  step: string,
  error: unknown,
  process: StartedProcess,
): MachineError {
  if (error instanceof MachineError) return error;
  const fact = process.ended.aborted ? 'its process ended' : messageOf(error);
  return failure(step, fact, process, error);
}

interface Patience {
  readonly milliseconds: number;
  readonly ended: AbortSignal;
}

/** Bodies have a length: Firecracker's server takes none in chunks. */
function send(
  socketPath: string,
  method: string,
  path: string,
  body: string | undefined,
  { milliseconds, ended }: Patience,
): Promise<Answer> {
  const headers = {
    Accept: 'application/json',
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const call = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text = (text + piece).slice(0, 65_536);
      });
      response.on('end', () => settle(() => resolve({ status: response.statusCode ?? 0, text })));
      response.on('error', (error) => settle(() => reject(error)));
    });
    const onEnd = (): void => void call.destroy(new Error('its process ended'));
    const settle = (tell: () => void): void => {
      clearTimeout(timer);
      ended.removeEventListener('abort', onEnd);
      tell();
    };
    timer = setTimeout(() => {
      call.destroy(new Error(`it did not answer within ${milliseconds / 1000} s`));
    }, milliseconds);
    ended.addEventListener('abort', onEnd, { once: true });
    call.on('error', (error) => settle(() => reject(error)));
    if (ended.aborted) onEnd();
    call.end(body);
  });
}
