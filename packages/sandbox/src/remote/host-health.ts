/** The health report of a server that runs sandboxes, and how it is read. */
import { type HttpClient, HttpError, parseJson } from '@saccade/http';
import { z } from 'zod';

const count = z.number().nonnegative();

const report = z.object({
  status: z.enum(['healthy', 'draining']),
  tier: z.string(),
  instance: z.string().optional(),
  capacity: z.object({ sessions: count.min(1), executions: count.min(1) }).optional(),
  stats: z.object({ open: count, waiting: count }).optional(),
});

/** A server's report of itself. */
export type HostHealth = z.output<typeof report>;

/** Reports are small; anything larger is none. */
const MOST_CHARACTERS = 2 ** 20;

/**
 * Asks a server for its report.
 *
 * @returns the report, or a clause that says why there is none
 */
export async function askForHealth(
  client: HttpClient,
  signal: AbortSignal,
): Promise<HostHealth | string> {
  let text: string;
  try {
    ({ text } = await client.send({ method: 'GET', path: '/health', signal }));
  } catch (error) {
    if (signal.aborted) return 'it does not answer';
    return error instanceof HttpError ? error.reason : String(error);
  }
  let value: unknown;
  try {
    if (text.length > MOST_CHARACTERS) return 'its report of health is too long';
    value = parseJson(text);
  } catch {
    return 'its report of health is not JSON: check what listens there';
  }
  const { success, data } = report.safeParse(value);
  if (success) return data;
  const hasStatus = z.object({ status: z.string() }).safeParse(value).success;
  return hasStatus
    ? 'it reports only a status: check the token'
    : 'its report of health is not that of a sandbox: check what listens there';
}
