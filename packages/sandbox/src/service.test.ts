/** The service over real sockets: its protocols as their users' programs speak them, its refusals. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coordinateImage } from './contract.ts';
import { askInPython, postTo, startService, statsOf, until } from './service.fixture.ts';
import type { SandboxService } from './service.ts';

let service: SandboxService;
beforeAll(async () => {
  service = await startService({ maxBytes: 4 * 2 ** 20, sandbox: { limits: { wallSeconds: 30 } } });
}, 300_000);
afterAll(() => service?.drain());

const post = (path: string, body: unknown) => postTo(service, path, body);

describe('SandboxFusion’s protocol', () => {
  it('runs code with standard input and files, and gives files back', async () => {
    const program = `
import base64
code = '''
import sys
name = input("name? ")
rest = sys.stdin.read()
text = open("data/in.txt").read()
open("out.bin", "wb").write(bytes(range(256)) * 400)
print(name, rest.split(), text)
print("careful", file=sys.stderr)
'''
print(json.dumps(post("/run_code", {
    "code": code, "language": "python", "run_timeout": 30, "compile_timeout": 30,
    "memory_limit_MB": 1024, "stdin": "Ada\\n1 2\\n3\\n",
    "files": {"data/in.txt": base64.b64encode(b"from a file").decode()},
    "fetch_files": ["out.bin", "missing.txt", "/etc/shadow"],
})))`;
    expect(await askInPython(program, service.url)).toEqual({
      status: 'Success',
      message: '',
      compile_result: null,
      run_result: {
        status: 'Finished',
        execution_time: expect.any(Number),
        return_code: 0,
        stdout: "name? Ada ['1', '2', '3'] from a file\n",
        stderr: 'careful\n',
      },
      executor_pod_name: null,
      files: {
        'out.bin': Buffer.from(Array.from({ length: 102_400 }, (_, at) => at % 256)).toString(
          'base64',
        ),
      },
    });
  });

  it.each([
    ['raise ValueError("no")', 'Failed', 'Finished', 1, /ValueError: no/],
    ['import sys\nsys.exit(3)', 'Failed', 'Finished', 3, /^$/],
    ['import sys\nsys.exit()', 'Success', 'Finished', 0, /^$/],
    ['x = (', 'Failed', 'Finished', 1, /SyntaxError/],
    ['input()', 'Failed', 'Finished', 1, /EOFError/],
    ['import os\nos._exit(40)', 'Failed', 'Finished', 1, /exit status 40/],
    ['x = bytearray(1 << 40)', 'Failed', 'Finished', 1, /MemoryError/],
    ['import time\ntime.sleep(60)', 'Failed', 'TimeLimitExceeded', null, /^$/],
  ])('tells how %j ends', async (code, status, how, returnCode, stderr) => {
    const limit = /sleep/.test(code) ? 0.6 : 30;
    const { body } = await post('/run_code', { code, language: 'python', run_timeout: limit });
    expect(body).toMatchObject({
      status,
      run_result: { status: how, return_code: returnCode, stderr: expect.stringMatching(stderr) },
    });
  });

  it('keeps to the memory that a run is given', async () => {
    const code = 'x = bytearray(200 << 20)\nprint(len(x))';
    const ask = { code, language: 'python', run_timeout: 30 };
    expect((await post('/run_code', ask)).body).toMatchObject({ status: 'Success' });
    expect((await post('/run_code', { ...ask, memory_limit_MB: 64 })).body).toMatchObject({
      status: 'Failed',
      run_result: { stderr: expect.stringMatching(/MemoryError/) },
    });
  });

  it('gives what the code showed beside its result', async () => {
    const code = 'Image.new("RGB", (30, 20), (1, 2, 3)).show()';
    const { body } = await post('/run_code', { code, language: 'python' });
    const [image] = (body as { images: string[] }).images;
    const png = Buffer.from(image ?? '', 'base64');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([30, 20]);
  });

  it('runs the cells of its own example of a notebook', async () => {
    const program = `
print(json.dumps(post("/run_jupyter", {
    "cells": ["a = 123", "a", "print(a)", "import sys; sys.stderr.write('stderr message')",
              "raise RuntimeError('error message')", "a + 1"],
    "cell_timeout": 30, "total_timeout": 60, "kernel": "python3", "files": {}, "fetch_files": [],
})))`;
    const answer = (await askInPython(program, service.url)) as {
      status: string;
      driver: unknown;
      cells: { error: { traceback: string[] }[] }[];
    };
    expect(answer.status).toBe('Success');
    expect(answer.driver).toMatchObject({ status: 'Finished', return_code: 0 });
    const nothing = { stdout: '', stderr: '', display: [], error: [] };
    expect(answer.cells).toMatchObject([
      nothing,
      { ...nothing, display: [{ 'text/plain': '123' }] },
      { ...nothing, stdout: '123\n' },
      { ...nothing, stderr: 'stderr message', display: [{ 'text/plain': '14' }] },
      { ...nothing, error: [{ ename: 'RuntimeError', evalue: 'error message' }] },
      { ...nothing, display: [{ 'text/plain': '124' }] },
    ]);
    expect(answer.cells[4]?.error[0]?.traceback.join('')).toMatch(
      /<cell>", line 1(?!(.|\n)*_run_cell)/,
    );
  });

  it('ends a notebook whose cell takes too long', async () => {
    const cells = ['print(1)', 'while True: pass'];
    const { body } = await post('/run_jupyter', { cells, cell_timeout: 0.5 });
    expect(body).toMatchObject({
      status: 'Failed',
      driver: { status: 'TimeLimitExceeded', return_code: null },
      cells: [],
    });
  });
});

describe('verl-tool’s protocol', () => {
  it('keeps a session for every trajectory until it is finished', async () => {
    const program = `
def ask(ids, actions, **more):
    return post("/get_observation", {"trajectory_ids": ids, "actions": actions, **more})
print(json.dumps([
    ask(["t1", "t2"], ["<python>x = 10\\nprint(f'x={x}')</python> ...", "no code here"],
        extra_fields=[{}, {}]),
    ask(["t1", "t2"], ["I look: \`\`\`python\\nx += 1\\nprint(x)\\n\`\`\`", "<python>print(x)</python>"],
        extra_fields=[{}, {}]),
    ask(["t1"], [""], finish=[True]),
    ask(["t1"], ["<python>print('x' in globals())</python>"]),
    ask(["t1", "t2"], ["", ""], extra_fields=[{"finish": True}, {"finish": True}]),
]))`;
    const [first, second, third, fourth] = (await askInPython(program, service.url)) as {
      observations: string[];
    }[];
    expect(first).toMatchObject({
      observations: ['\n<result>\nx=10\n</result>\n', ''],
      dones: [false, false],
      valids: [true, false],
    });
    expect(second?.observations[0]).toBe('\n```result\n11\n```\n');
    expect(second?.observations[1]).toMatch(/NameError: name 'x' is not defined/);
    expect(third).toMatchObject({ observations: [''], dones: [true], valids: [true] });
    expect(fourth?.observations).toEqual(['\n<result>\nFalse\n</result>\n']);
    expect(await until(async () => (await statsOf(service)).open === 0)).toBe(true);
  });

  it('takes images as data URLs and gives images back with their marks', async () => {
    const photo = Buffer.from(coordinateImage(40, 30)).toString('base64');
    const { body } = await post('/get_observation', {
      trajectory_ids: [7],
      actions: [
        '<python>print(image_clue_0.size)\nimage_clue_0.crop((4, 5, 16, 13)).show()</python>',
      ],
      extra_fields: [{ images: [`data:image/png;base64,${photo}`] }],
    });
    const [{ obs, image }] = (body as { observations: [{ obs: string; image: string[] }] })
      .observations;
    expect(obs).toBe('\n<result>\n(40, 30)\n<image>\n</result>\n');
    const png = Buffer.from((image[0] ?? '').replace('data:image/png;base64,', ''), 'base64');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([12, 8]);
    const bad = { trajectory_ids: ['p'], actions: ['<python>1</python>'] };
    const refused = await post('/get_observation', {
      ...{ ...bad, extra_fields: [{ images: ['/etc/passwd'] }] },
    });
    expect(refused).toMatchObject({ status: 200, body: { dones: [true], valids: [false] } });
    await post('/get_observation', { trajectory_ids: ['7'], actions: [''], finish: [true] });
  });

  it('says when the interpreter was ended, and begins anew', async () => {
    const say = async (code: string) => {
      const actions = [`<python>${code}</python>`];
      const { body } = await post('/get_observation', { trajectory_ids: ['k'], actions });
      return (body as { observations: string[] }).observations[0];
    };
    await say('y = 1');
    expect(await say('import os; os._exit(1)')).toMatch(/ended the interpreter/);
    expect(await say('print("y" in globals())')).toMatch(/False/);
  });
});

describe('who goes away', () => {
  it('has his execution cancelled, queued or running', async () => {
    const { body } = await post('/v1/sessions', {});
    const { session } = body as { session: string };
    const path = `${service.url}/v1/sessions/${session}/execute`;
    const leave = (code: string): Promise<void> =>
      new Promise((resolve) => {
        const going = httpRequest(path, { method: 'POST' }, () => {});
        going.on('error', () => resolve());
        going.end(JSON.stringify({ code }));
        setTimeout(() => going.destroy(), 300);
      });
    const before = await statsOf(service);
    await leave('while True: pass');
    expect(await until(async () => (await statsOf(service)).open === before.open - 1)).toBe(true);
    expect((await statsOf(service)).running).toBe(0);
    const { status } = await post(`/v1/sessions/${session}/execute`, { code: 'print(1)' });
    expect(status).toBe(200); // an outcome: the session is over
  });

  it('gives his place in the queue to the next', async () => {
    const small = await startService({ sandbox: { maxSessions: 1 } });
    try {
      const open = () => fetch(`${small.url}/v1/sessions`, { method: 'POST', body: '{}' });
      const { session } = (await (await open()).json()) as { session: string };
      const leaving = new AbortController();
      const given = fetch(`${small.url}/v1/sessions`, {
        ...{ method: 'POST', body: '{}', signal: leaving.signal },
      });
      expect(await until(async () => (await statsOf(small)).waiting === 1)).toBe(true);
      const next = open();
      leaving.abort();
      await expect(given).rejects.toThrow();
      expect(await until(async () => (await statsOf(small)).waiting === 1)).toBe(true);
      await fetch(`${small.url}/v1/sessions/${session}`, { method: 'DELETE' });
      expect((await next).status).toBe(201);
      expect((await statsOf(small)).open).toBe(1);
    } finally {
      await small.drain();
    }
  });

  it('loses a session that he does not use', async () => {
    const short = await startService({ idleSeconds: 0.3 });
    try {
      const opened = await fetch(`${short.url}/v1/sessions`, { method: 'POST', body: '{}' });
      expect(opened.status).toBe(201);
      expect((await statsOf(short)).open).toBe(1);
      expect(await until(async () => (await statsOf(short)).open === 0)).toBe(true);
    } finally {
      await short.drain();
    }
  });
});

it('counts what it does for Prometheus', async () => {
  await post('/run_code', { code: 'print(1)', language: 'python' });
  const forged = 'import os\nos.write(4, b"x" * 100)\nwhile True: pass';
  await post('/run_code', { code: forged, language: 'python' });
  const response = await fetch(`${service.url}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const value = (line: RegExp): number => Number(line.exec(text)?.[1] ?? Number.NaN);
  expect(
    value(/^saccade_sandbox_execution_seconds_count\{protocol="run_code",outcome="ok"\} (\d+)/m),
  ).toBeGreaterThan(0);
  expect(
    value(/^saccade_sandbox_request_seconds_count\{route="\/run_code",status="200"\} (\d+)/m),
  ).toBeGreaterThan(0);
  expect(value(/^saccade_sandbox_servers (\d+)/m)).toBe(1);
  expect(value(/^saccade_sandbox_session_violations_total (\d+)/m)).toBe(1);
  expect(value(/^process_resident_memory_bytes (\d+)/m)).toBeGreaterThan(0);
});

it('says in its health what isolates the code', async () => {
  const health = await (await fetch(`${service.url}/health`)).json();
  expect(health).toMatchObject({
    status: 'healthy',
    tier: expect.stringMatching(/^(bubblewrap|process)/),
    report: { writesSystem: false, readsLibraries: true },
    limits: { wallSeconds: 30 },
  });
});
