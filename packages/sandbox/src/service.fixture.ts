/** A service on a free port for the tests, and Python programs that use it as its users do. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
