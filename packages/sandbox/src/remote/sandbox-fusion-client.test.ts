import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService } from '../service.fixture.ts';
import type { SandboxService } from '../service.ts';
import { runOnSandboxFusion } from './sandbox-fusion-client.ts';

let service: SandboxService;
beforeAll(async () => {
  service = await startService({ token: 'single' });
}, 300_000);
afterAll(() => service?.drain());

it('runs code once with input and files, and tells how it ended', async () => {
  const bytes = Uint8Array.from([0, 255, 7]);
  const code = 'print(input())\nopen("copy", "wb").write(open("a/in", "rb").read())';
  const files = { 'a/in': bytes };
  const whole = { code, stdin: 'hi\n', files, fetchFiles: ['copy', 'none'] };
  expect(await runOnSandboxFusion(service.url, whole, 'single')).toEqual({
    ...{ kind: 'ok', returnCode: 0, stdout: 'hi\n', stderr: '' },
    ...{ seconds: expect.any(Number), files: { copy: bytes } },
  });
  const failing = { code: 'raise SystemExit(5)' };
  expect(await runOnSandboxFusion(service.url, failing, 'single')).toMatchObject({
    ...{ kind: 'failed', returnCode: 5 },
  });
  const slow = { code: 'import time; time.sleep(60)', wallSeconds: 0.5 };
  const late = await runOnSandboxFusion(service.url, slow, 'single');
  expect(late.kind).toBe('timeout');
  expect(late).not.toHaveProperty('returnCode');
});

it('takes no fault of a server for one of the code', async () => {
  const run = { code: '1' };
  await expect(runOnSandboxFusion(service.url, run)).rejects.toMatchObject({ code: 'sandbox' });
  const other = createServer((_, response) => response.end('{"hello": 1}'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await expect(runOnSandboxFusion(url, run)).rejects.toThrow(/speaks no SandboxFusion/);
  other.close();
});
