/** A tool service on a free port for the tests, and simple ways to ask it. */
import { join } from 'node:path';
import { ensurePython } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import type { ToolContext, ToolImage } from '@saccade/tools';
import type { PlacementInput } from './placement.ts';
import { openToolService, type ToolService, type ToolServiceOptions } from './service.ts';

/** The compiled module of the simple tools and of those that break: processes cannot load sources. */
export const loadModule: string = new URL('../dist/load.js', import.meta.url).href;

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');

/** The interpreter of the sandbox. */
export async function python(): Promise<string> {
  return (await ensurePython(environment)).python;
}

/** An image whose pixel (x, y) is (x, y, 7). */
export const image: ToolImage = {
  ...{ name: 'image_0', png: coordinateImage(100, 80), width: 100, height: 80 },
};

/** The same as a request has it. */
export const sentImage = { name: image.name, png: Buffer.from(image.png).toString('base64') };

/** A context without a sandbox. */
export const context: ToolContext = {
  images: [image],
  sandbox: { open: () => Promise.reject(new Error('not used')) },
};

/** A process of tools that break when they are told to. */
export function faultyProcess(
  settings: Readonly<Record<string, unknown>> = {},
  process: Partial<NonNullable<PlacementInput['processes']>[number]> = {},
): NonNullable<PlacementInput['processes']>[number] {
  const tools = ['digest_tool', 'show_tool', 'device_tool'].map((name) => ({ name }));
  const tool = { name: 'faulty', modules: [loadModule], tools, ...settings };
  return { name: 'faulty', tools: [tool], graceSeconds: 0.3, memoryMib: 256, ...process };
}

/** Opens a service that is ready; tools are named in the placement. */
export async function startTools(
  placement: PlacementInput,
  options: Partial<ToolServiceOptions> = {},
): Promise<ToolService> {
  const service = await openToolService({ python, modules: [loadModule], placement, ...options });
  if (await until(async () => service.problem() === undefined)) return service;
  const problem = service.problem();
  await service.drain(0);
  throw new Error(`The service is not ready: ${problem}`);
}

/** The answer of a service. */
export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** Sends JSON, or text as it is, and reads the answer. */
export async function post(
  { url }: Pick<ToolService, 'url'>,
  path: string,
  body: unknown,
  init: RequestInit = {},
): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    ...{ method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
    ...init,
    headers: { 'content-type': 'application/json', ...(init.headers as object) },
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answered['body'],
  };
}

/** The body of a GET. */
export async function get({ url }: Pick<ToolService, 'url'>, path: string): Promise<Answered> {
  const response = await fetch(`${url}${path}`);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answered['body'],
  };
}

/** The lines of a service's metrics that begin so. */
export async function metricsOf({ url }: ToolService, start: string): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith(start));
}

/** Looks until it is so, for a minute at most. */
export async function until(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 1200; look++) {
    if (await isSo()) return true;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return false;
}
