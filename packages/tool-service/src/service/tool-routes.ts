/** Our own protocol: the tools, one call, a batch of calls. */
import { bodyOf, type Call, callOf, idempotent } from '@saccade/http/service';
import { outcomeToJson } from '@saccade/sandbox';
import { Hono } from 'hono';
import type { z } from 'zod';
import type { ToolCalls } from '../calls/tool-calls.ts';
import {
  batchRequestSchema,
  type CallRequest,
  callRequestSchema,
  type refusalSchema,
  WIRE_VERSION,
} from '../wire.ts';
import { readImages } from './images.ts';
import { asRefusal, refuseUnlessServed } from './refusals.ts';

export interface ToolRoutesOptions {
  readonly calls: ToolCalls;
  /** Limit per image. */
  readonly maxPixels: number;
  /** Told of errors that nothing explains. */
  readonly onFault: (error: unknown) => void;
}

/** `GET /v1/tools`, `POST /v1/tools/:name` and `POST /v1/batch`. */
export function toolRoutes({ calls, maxPixels, onFault }: ToolRoutesOptions): Hono {
  const routes = new Hono();

  const answer = async (tool: string, request: CallRequest, { signal }: Call): Promise<object> => {
    refuseUnlessServed(calls, tool, request.version);
    const { outcome, isCached } = await calls.call(tool, {
      ...{ given: request.arguments, images: readImages(request.images, maxPixels) },
      ...{ deadlineMs: request.deadlineMs, signal },
    });
    return { outcome: outcomeToJson(outcome), isCached };
  };

  routes.get('/tools', (context) => context.json({ wire: WIRE_VERSION, tools: calls.tools }));

  routes.post('/tools/:name', idempotent(), async (context) => {
    const name = context.req.param('name');
    refuseUnlessServed(calls, name);
    const request = await bodyOf(context, callRequestSchema);
    return context.json(await answer(name, request, callOf(context)));
  });

  routes.post('/batch', idempotent(), async (context) => {
    const { calls: asked } = await bodyOf(context, batchRequestSchema);
    const answers = await Promise.all(
      asked.map(async ({ tool, ...request }) => {
        try {
          return { status: 200, ...(await answer(tool, request, callOf(context))) };
        } catch (error) {
          return refused(error);
        }
      }),
    );
    return context.json({ answers });
  });

  /** One call of a batch without an outcome, as it would be refused alone. */
  function refused(error: unknown): z.output<typeof refusalSchema> & { readonly status: number } {
    const refusal = asRefusal(error);
    if (refusal === undefined) onFault(error);
    const { status, code, fact, remedy } = refusal?.options ?? {
      ...{ status: 500, code: 'fault', fact: String(error).slice(0, 500) },
      remedy: 'This is a fault of the service; its log has the stack.',
    };
    return { status, error: { code, fact, remedy } };
  }

  return routes;
}
