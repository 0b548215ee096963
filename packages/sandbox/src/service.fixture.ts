/** A service on a free port for the tests, and Python programs that use it as its users do. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SandboxStats } from './local-sandbox.ts';
import { openSandbox, type SandboxOptions } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';
import { openSandboxService, type SandboxService, type SandboxServiceOptions } from './service.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const run = promisify(execFile);

export async function startService(
  options: Omit<SandboxServiceOptions, 'sandbox'> & { readonly sandbox?: SandboxOptions } = {},
): Promise<SandboxService> {
  const { python } = await ensurePython(environment);
  const { sandbox: own, ...service } = options;
  const sandbox = await openSandbox({ python, ...own });
  try {
    return await openSandboxService({ ...service, sandbox });
  } catch (error) {
    await sandbox.dispose();
    throw error;
  }
}

/** Runs a Python program with the standard library only; it prints one JSON value. */
export async function askInPython(program: string, ...args: string[]): Promise<unknown> {
  const { python } = await ensurePython(environment);
  const prelude = `
import json, sys, urllib.error, urllib.request
def post(path, body, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(sys.argv[1] + path, data, headers)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return {"status": error.code, **json.load(error)}
`;
  const { stdout } = await run(python, ['-I', '-c', prelude + program, ...args], {
    maxBuffer: 64 * 2 ** 20,
  });
  return JSON.parse(stdout);
}

/** Sends JSON, or text as it is, and reads the answer. */
export async function postTo(
  { url }: SandboxService,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

export async function statsOf({ url }: SandboxService): Promise<SandboxStats> {
  return ((await (await fetch(`${url}/health`)).json()) as { stats: SandboxStats }).stats;
}

/** Looks until it is so, for ten seconds at most. */
export async function until(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 200; look++) {
    if (await isSo()) return true;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return false;
}
