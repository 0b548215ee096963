/** The requests of one service: whether each is admitted, how long it may take, how it ends. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { StateError } from '@saccade/core';
import { type Access, missingToken } from './access.ts';
import type { Call } from './call.ts';
import { ClientLimits } from './client-limits.ts';
import { type ServiceMetrics, serviceMetrics } from './metrics.ts';
import { plainWording, type RefusalOptions, type Rule, refusalResponse } from './refusal.ts';
import type { OpenServiceOptions } from './service-options.ts';
import { ViolationLog } from './violation-log.ts';

/** How long the rest of a refused request is read, so that its sender gets to read the refusal. */
const REST_MS = 1000;

const draining: RefusalOptions = {
  status: 503,
  code: 'draining',
  fact: 'The service is about to stop and takes no new calls.',
  remedy: 'Ask another one, or this one after its restart.',
  retryAfterSeconds: 5,
};

export class ServiceListener {
  readonly #options: OpenServiceOptions;
  readonly #access: Access;
  readonly #clients: ClientLimits;
  readonly #metrics: ServiceMetrics;
  readonly #log: ViolationLog | undefined;
  readonly #listen: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
  readonly #running = new Map<ServerResponse, AbortController>();
  readonly #calls = new WeakMap<IncomingMessage, Call>();
  /** The answer that each connection waits for. */
  readonly #answers = new WeakMap<Duplex, ServerResponse>();
  readonly #bodies = new AbortController();
  #isDraining = false;
  #onIdle: () => void = () => {};

  constructor(options: OpenServiceOptions, access: Access) {
    const { name, onEvent, clients } = options;
    this.#options = options;
    this.#access = access;
    this.#clients = new ClientLimits(clients);
    this.#metrics = serviceMetrics(name, () => this.#running.size);
    options.addMetrics?.(this.#metrics);
    this.#log = onEvent && new ViolationLog({ service: name, onEvent });
    this.#listen = getRequestListener(
      (request, { incoming, outgoing }) =>
        this.#handle(request, incoming as IncomingMessage, outgoing as ServerResponse),
      { overrideGlobalObjects: false },
    );
  }

  answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const began = performance.now();
    const client = incoming.socket.remoteAddress ?? '';
    const { healthPath = '/health' } = this.#options;
    const isHealth = incoming.method === 'GET' && incoming.url === healthPath;
    const entered = this.#clients.enter(client, began);
    // Health is cheap, and its answer must not depend on how busy a client is.
    const isBusy = entered !== undefined && !(isHealth && entered.rule === 'concurrency');
    const call = this.#begin(incoming, outgoing, client);
    this.#answers.set(incoming.socket, outgoing);
    const refusal = (isBusy ? entered : undefined) ?? this.#refusalOf(incoming, call, isHealth);
    outgoing.once('close', () => {
      if (entered === undefined) this.#clients.leave(client);
      this.#running.delete(outgoing);
      const seconds = (performance.now() - began) / 1000;
      this.#metrics.onRequest(call.route || 'none', outgoing.statusCode, seconds);
      if (this.#running.size === 0) this.#onIdle();
    });
    outgoing.on('error', () => {});
    if (refusal === undefined) {
      void this.#listen(incoming, outgoing);
      return;
    }
    if (refusal.rule !== undefined) call.report(refusal.rule, refusal.fact);
    void this.#refuse(incoming, outgoing, refusal);
  }

  /**
   * Lets a connection in that becomes something else, to be followed by `leave`, or says why not: the
   * same rules as for requests.
   */
  admitUpgrade(incoming: IncomingMessage): RefusalOptions | undefined {
    const client = incoming.socket.remoteAddress ?? '';
    const entered = this.#clients.enter(client, performance.now());
    const isTrusted = this.#access.isTrusted(incoming);
    const refusal =
      entered ??
      this.#access.refuse(incoming) ??
      (isTrusted ? undefined : missingToken) ??
      (this.#isDraining ? draining : undefined);
    if (refusal === undefined) return undefined;
    if (entered === undefined) this.#clients.leave(client);
    const request = `UPGRADE ${(incoming.url ?? '').slice(0, 200)}`;
    if (refusal.rule !== undefined) this.report(client, refusal.rule, request, refusal.fact);
    return refusal;
  }

  leave(client: string): void {
    this.#clients.leave(client);
  }

  /** Whether part of an answer was sent, so that nothing may be inserted. */
  isAnswering(socket: Duplex): boolean {
    const answer = this.#answers.get(socket);
    return answer?.headersSent === true && !answer.writableFinished;
  }

  report(client: string, rule: Rule, request: string, detail: string): void {
    this.#metrics.onViolation(rule);
    this.#log?.report({ client, rule, request, detail }, performance.now());
  }

  /** Admits no new call, and aborts bodies that have not arrived: those calls never started. */
  stopAccepting(): Promise<void> {
    this.#isDraining = true;
    this.#bodies.abort(new StateError('The service is about to stop.'));
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#running.size === 0) resolve();
    });
  }

  abortCalls(): void {
    const reason = new StateError('The service was stopped before the call was done.');
    for (const call of this.#running.values()) call.abort(reason);
  }

  #refusalOf(
    incoming: IncomingMessage,
    { isTrusted }: Call,
    isHealth: boolean,
  ): RefusalOptions | undefined {
    const refusal = this.#access.refuse(incoming);
    if (refusal !== undefined) return refusal;
    if (!isTrusted && !isHealth) return missingToken;
    const { method } = incoming;
    if (!this.#isDraining || method === 'GET' || method === 'HEAD' || method === 'DELETE') {
      return undefined;
    }
    return draining;
  }

  #begin(incoming: IncomingMessage, outgoing: ServerResponse, client: string): Call {
    const given = new AbortController();
    this.#running.set(outgoing, given);
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) given.abort(new StateError('The client hung up.'));
    });
    const { deadlineSeconds } = this.#options;
    const signal =
      deadlineSeconds === undefined
        ? given.signal
        : AbortSignal.any([given.signal, AbortSignal.timeout(deadlineSeconds * 1000)]);
    const { method = '', url = '' } = incoming;
    const request = `${method} ${url.slice(0, 200)}`;
    const call: Call = {
      client,
      isTrusted: this.#access.isTrusted(incoming),
      isDraining: () => this.#isDraining,
      signal,
      bodySignal: AbortSignal.any([signal, this.#bodies.signal]),
      onEnd: (end) => outgoing.once('close', () => end(outgoing.writableFinished)),
      report: (rule, detail) => this.report(client, rule, request, detail),
      route: '',
    };
    this.#calls.set(incoming, call);
    return call;
  }

  async #handle(
    request: Request,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<Response> {
    const call = this.#calls.get(incoming);
    if (call === undefined) throw new StateError('A request came past the listener.');
    const isMetrics = pathOf(incoming) === '/metrics' && ['GET', 'HEAD'].includes(request.method);
    if (isMetrics) call.route = '/metrics';
    const response = isMetrics
      ? await this.#metricsAnswer()
      : await Promise.race([this.#options.app.fetch(request, { call }), this.#tooLate(call)]);
    this.#limitSending(call, outgoing);
    return response;
  }

  /** The answer after the deadline, for handlers that ignore their signal. */
  #tooLate({ signal }: Call): Promise<Response> {
    const { deadlineSeconds, wording = plainWording } = this.#options;
    return new Promise((resolve) => {
      if (deadlineSeconds === undefined) return;
      signal.addEventListener('abort', () => {
        const { reason } = signal;
        if (!(reason instanceof DOMException) || reason.name !== 'TimeoutError') return;
        const fact = `The call was not done within ${deadlineSeconds} seconds and was given up.`;
        const remedy = 'Ask for less at a time.';
        resolve(refusalResponse({ status: 504, code: 'deadline', fact, remedy }, wording));
      });
    });
  }

  #limitSending({ report }: Call, outgoing: ServerResponse): void {
    const { sendSeconds = 60 } = this.#options;
    const timer = setTimeout(() => {
      report('slow-reader', `The answer was not read within ${sendSeconds} seconds.`);
      outgoing.destroy();
    }, sendSeconds * 1000);
    outgoing.once('close', () => clearTimeout(timer));
  }

  async #metricsAnswer(): Promise<Response> {
    const { type, text } = await this.#metrics.text();
    return new Response(text, { headers: { 'content-type': type } });
  }

  async #refuse(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    refusal: RefusalOptions,
  ): Promise<void> {
    const answer = refusalResponse(refusal, this.#options.wording ?? plainWording);
    const body = await answer.text();
    outgoing.writeHead(refusal.status, {
      ...Object.fromEntries(answer.headers),
      'content-length': Buffer.byteLength(body),
    });
    outgoing.end(body);
    incoming.resume();
    const timer = setTimeout(() => incoming.complete || incoming.socket.destroy(), REST_MS);
    incoming.once('close', () => clearTimeout(timer));
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}
