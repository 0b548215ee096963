/** A small service for the tests: it echoes, waits, fails and counts. */
import { z } from 'zod';
import { callOf } from './call.ts';
import { idempotent } from './idempotency.ts';
import { openService, type Service } from './open-service.ts';
import { bodyOf, newServiceApp, type ServiceAppOptions } from './service-app.ts';
import type { OpenServiceOptions } from './service-options.ts';

export interface EchoService extends Service {
  /** Runs of `/count` and of `/wait`, and calls of `/wait` that were aborted. */
  readonly counts: { count: number; wait: number; aborted: number };
}

export async function openEcho(
  options: Partial<OpenServiceOptions> & { readonly appOptions?: Partial<ServiceAppOptions> } = {},
): Promise<EchoService> {
  const { appOptions, ...rest } = options;
  const counts = { count: 0, wait: 0, aborted: 0 };
  const app = newServiceApp({ routes: 'POST /echo', onFault: () => {}, ...appOptions });
  app.get('/health', (context) => {
    const isDraining = callOf(context).isDraining();
    return context.json({ status: isDraining ? 'draining' : 'healthy' }, isDraining ? 503 : 200);
  });
  app.post('/echo', async (context) => {
    return context.json({ echo: await bodyOf(context, z.unknown()) });
  });
  app.post('/large', (context) => context.text('x'.repeat(64 * 2 ** 20)));
  app.post('/fault', () => {
    throw new Error('broken');
  });
  app.post('/wait', async (context) => {
    const { signal } = callOf(context);
    const { ms } = await bodyOf(context, z.object({ ms: z.number() }));
    counts.wait++;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        counts.aborted++;
        reject(signal.reason);
      });
    });
    return context.json({ waited: ms });
  });
  app.use('/count', idempotent());
  app.post('/count', async (context) => {
    const { status = 200 } = await bodyOf(
      context,
      z.object({ status: z.literal([200, 500]).optional() }),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    return context.json({ count: ++counts.count }, status);
  });
  return { ...(await openService({ name: 'echo', app, ...rest })), counts };
}
