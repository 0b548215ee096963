/** Our tools over streamable HTTP: a session per client, under the rules of every service. */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import {
  type BodyLimits,
  bodyOf,
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  Refusal,
  type RefusalWording,
  type Service,
  type SessionLimits,
  Sessions,
} from '@saccade/http/service';
import type { Context } from 'hono';
import { z } from 'zod';

import { newToolServer, requestSignal, type ServedTools } from './tool-server.ts';

/** How tools are served over HTTP: where, under which limits, and what is released at the end. */
export interface McpServiceOptions extends ListenOptions, ServedTools, Partial<SessionLimits> {
  readonly bodies?: BodyLimits;
  /** Releases what the tools use, once the calls have ended. */
  readonly dispose?: () => Promise<void>;
}

/** A JSON-RPC error without a request, where MCP clients look; and ours. */
const wording: RefusalWording = ({ code, fact, remedy }) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32000, message: `${fact} ${remedy}`, data: { code, fact, remedy } },
});

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  close(): Promise<void>;
}

/**
 * Listens at `/mcp`. Answers are plain JSON: a call is one request and one answer. `maxSessions` is
 * 256 and `idleSeconds` 600 by default.
 *
 * @throws ConfigError as `openService` does, or if a tool is called `add_image`
 */
export async function openMcpService(options: McpServiceOptions): Promise<Service> {
  const { maxSessions = 256, idleSeconds = 600, dispose = async () => {} } = options;
  const { bodies = { maxBytes: 40 * 2 ** 20 }, onFault = console.error } = options;
  const served = { ...options, onFault };
  // Two tools of one name, and the like, are found before anybody asks.
  newToolServer(served);
  const limits = { maxSessions, idleSeconds };
  const sessions = new Sessions<Session>(limits, ({ close }) => close(), onFault);
  const app = newServiceApp({
    routes: 'POST /mcp, DELETE /mcp, GET /health',
    bodies,
    wording,
    onFault,
  });
  app.get('/health', (context) => {
    const { isDraining: drains, isTrusted } = callOf(context);
    const isDraining = drains();
    const status = isDraining ? 'draining' : 'healthy';
    return context.json(
      { status, ...(isTrusted && { sessions: sessions.count }) },
      isDraining ? 503 : 200,
    );
  });
  app.post('/mcp', async (context) => {
    const body = await bodyOf(context, z.unknown());
    const id = context.req.header('mcp-session-id');
    if (id !== undefined) return await inSession(sessions, id, context, body);
    const isFirst = (Array.isArray(body) ? body : [body]).some(isInitializeRequest);
    if (!isFirst) {
      throw new Refusal({
        ...{ status: 400, code: 'no-session', fact: 'There is no session yet.' },
        remedy: 'Send "initialize" first, then the header "mcp-session-id" of its answer.',
      });
    }
    if (!sessions.hasRoom) {
      throw new Refusal({
        ...{ status: 503, code: 'sessions', fact: `All ${maxSessions} sessions are taken.` },
        ...{ remedy: 'End one, or come again.', retryAfterSeconds: 5 },
      });
    }
    return await begin(sessions, served, context, body);
  });
  app.delete('/mcp', async (context) => {
    const id = context.req.header('mcp-session-id') ?? '';
    if (!(await sessions.end(id))) throw unknownSession();
    return context.body(null, 204);
  });
  app.get('/mcp', () => {
    throw new Refusal({
      ...{ status: 405, code: 'no-stream', fact: 'There is no stream beside the calls.' },
      remedy: 'Send POST /mcp.',
    });
  });
  return await openService({
    ...{ ...options, name: 'mcp', app, wording },
    dispose: async () => {
      await sessions.endAll();
      await dispose();
    },
  });
}

async function begin(
  sessions: Sessions<Session>,
  served: ServedTools,
  context: Context,
  body: unknown,
): Promise<Response> {
  const server = newToolServer(served);
  const id = sessions.newId();
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    enableJsonResponse: true,
    onsessioninitialized: () => sessions.add(id, { transport, close: () => server.close() }),
  });
  await server.connect(transport);
  const response = await transport.handleRequest(context.req.raw, { parsedBody: body });
  // If the request began no session, the server is not kept.
  if (!response.ok) await server.close();
  return response;
}

async function inSession(
  sessions: Sessions<Session>,
  id: string,
  context: Context,
  body: unknown,
): Promise<Response> {
  const { signal } = callOf(context);
  const response = await sessions.use(id, ({ transport }) =>
    requestSignal.run(signal, () =>
      Promise.race([
        transport.handleRequest(context.req.raw, { parsedBody: body }),
        // In answers of plain JSON the SDK waits for every call, also for one that was given up.
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
      ]),
    ),
  );
  if (response === undefined) throw unknownSession();
  return response;
}

function unknownSession(): Refusal {
  return new Refusal({
    ...{
      status: 404,
      code: 'unknown-session',
      fact: 'There is no session of that id, or no longer.',
    },
    remedy: 'Send "initialize" without the header to begin another.',
  });
}
