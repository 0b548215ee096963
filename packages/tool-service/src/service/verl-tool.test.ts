/** verl-tool's protocol: parallel lists, images as its trainers name them, calls as models write them. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestText } from '../load/plain-tools.ts';
import { image, loadModule, post, sentImage, startTools } from '../service.fixture.ts';
import type { ToolService } from '../service.ts';
import { readCall } from './read-call.ts';

interface Observed {
  readonly observations: readonly (string | Readonly<Record<string, unknown>>)[];
  readonly dones: readonly boolean[];
  readonly valids: readonly boolean[];
  readonly processing_time_ms: number;
}

let service: ToolService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'saccade-verl-'));
  await mkdir(join(folder, 'images', 'deep'), { recursive: true });
  await writeFile(join(folder, 'images', 'deep', 'a.png'), image.png);
  await writeFile(join(folder, 'secret.png'), image.png);
  await writeFile(join(folder, 'images', 'text.png'), 'no image at all');
  await symlink(join(folder, 'secret.png'), join(folder, 'images', 'link.png'));
  await writeFile(join(folder, 'images', 'b.jpg'), await sharp(image.png).jpeg().toBuffer());
  const names = ['digest_tool', 'show_tool', 'device_tool'];
  const tools = names.map((name) => ({ name }));
  const faulty = { name: 'faulty', modules: [loadModule], tools };
  service = await startTools(
    { own: [faulty], limits: { timeoutSeconds: 6 } },
    { imageFolder: join(folder, 'images') },
  );
}, 120_000);
afterAll(async () => {
  await service?.drain(1);
  await rm(folder, { recursive: true, force: true });
});

async function observe(body: object): Promise<Observed> {
  const answer = await post(service, '/get_observation', body);
  expect(answer.status).toBe(200);
  expect(Number(answer.headers.get('x-process-time'))).toBeGreaterThan(0);
  return answer.body as unknown as Observed;
}

const write = (name: string, given: object = {}): string =>
  `<think>I look.</think>\n<tool_call>{"tool": "${name}", "task": "look", "arguments": ${JSON.stringify(given)}}</tool_call>`;

const said = (text: string): string => `\n\`\`\`output\n${text}\n\`\`\`\n`;
const dataUrl = `data:image/png;base64,${sentImage.png}`;

describe('observations', () => {
  it('answer every trajectory in its place', async () => {
    const { observations, dones, valids, processing_time_ms } = await observe({
      trajectory_ids: ['a', 'b', 'c', 4, 'e', 'f'],
      actions: [
        write('digest_tool'),
        '<think>I know.</think><answer>7</answer>',
        write('no_such_tool'),
        '<tool_call>{"tool": ',
        write('digest_tool', { image_index: 3 }),
        write('digest_tool', { fault: 'garbage' }),
      ],
      extra_fields: Array.from({ length: 6 }, () => ({ images: [dataUrl] })),
      finish: [false, false, false, false, false, false],
      is_last_step: [false, false, false, false, false, true],
    });
    expect(observations[0]).toBe(said(digestText(image)));
    expect(observations[1]).toMatchObject({
      ...{ obs: '', invalid_reason: 'No valid tool found for action' },
      available_tools: ['digest_tool', 'show_tool', 'device_tool'],
    });
    expect(observations[2]).toMatchObject({ obs: expect.stringContaining('UnknownTool') });
    expect(observations[3]).toMatchObject({ obs: expect.stringContaining('InvalidCall') });
    expect(observations[4]).toMatchObject({
      invalid_reason: expect.stringContaining('Write 0 to 0'),
    });
    expect(observations[5]).toMatchObject({ obs: '', error: expect.any(String) });
    expect(dones).toEqual([false, false, false, false, false, true]);
    expect(valids).toEqual([true, false, false, false, false, false]);
    expect(processing_time_ms).toBeGreaterThan(0);
  });

  it('show images, which the trajectory has from then on, until it is finished', async () => {
    const ask = async (action: string, more: object = {}) => {
      const given = { trajectory_ids: ['t'], actions: [action], ...more };
      return (await observe(given)).observations[0] as { obs: string; image?: readonly string[] };
    };
    const shown = await ask(write('show_tool'), { images: [[dataUrl]] });
    expect(shown).toEqual({ obs: `${said('Image: image_1')}<image>`, image: [dataUrl] });
    const second = digestText({ ...image, name: 'image_1' });
    expect(await ask(write('digest_tool', { image_index: 1 }))).toBe(said(second));
    expect((await observe({ trajectory_ids: ['t'], actions: [''], finish: [true] })).dones).toEqual(
      [true],
    );
    expect(await ask(write('digest_tool'))).toMatchObject({
      obs: expect.stringContaining('There is no image 0'),
    });
  });
});

describe('images', () => {
  const asked = async (given: object): Promise<string> => {
    const body = { trajectory_ids: ['i'], actions: [write('digest_tool')], extra_fields: [given] };
    const { observations } = await observe(body);
    const [one] = observations;
    return typeof one === 'string' ? one : String(one?.invalid_reason);
  };

  it.each<[string, () => object]>([
    ['a data URL', () => ({ image: dataUrl })],
    ['base64', () => ({ images: [sentImage.png] })],
    ['bytes of a data set', () => ({ images: [{ bytes: sentImage.png, path: null }] })],
    ['a path in the folder', () => ({ image_path: join(folder, 'images', 'deep', 'a.png') })],
    ['a path from the folder on', () => ({ images: ['deep/a.png'] })],
    ['a file URL', () => ({ images: [`file://${join(folder, 'images', 'deep', 'a.png')}`] })],
  ])('come as %s', async (_, given) => {
    expect(await asked(given())).toBe(said(digestText(image)));
  });

  it('come as JPEG files, too', async () => {
    expect(await asked({ images: ['b.jpg'] })).toContain('image_0: 100×80');
  });

  it.each<[string, () => unknown, RegExp]>([
    ['beside the folder', () => join(folder, 'secret.png'), /no file in the allowed folder/],
    ['above it', () => '../secret.png', /no file in the allowed folder/],
    ['behind a link', () => 'link.png', /no file in the allowed folder/],
    ['that is not there', () => 'nothing.png', /no file in the allowed folder/],
    ['of the system', () => '/etc/ssl/openssl.cnf', /allowed folder|no image/],
    ['that holds text', () => 'text.png', /no image that can be read/],
  ])('are not taken from a path %s', async (_, path, message) => {
    expect(await asked({ images: [path()] })).toMatch(message);
  });

  it.each<[string, unknown, RegExp]>([
    ['numbers', [7], /neither a path/],
    ['half a JPEG file', ['data:image/jpeg;base64,/9j/4AAQSkZJRg=='], /no image that can be read/],
    ['a data URL of text', ['data:text/plain;base64,AAAA'], /data URL of no image/],
    ['too many', Array.from({ length: 300 }, () => 'a.png'), /300 images/],
  ])('are refused where they are %s', async (_, given, message) => {
    expect(await asked({ images: given })).toMatch(message);
  });

  it('are not opened by their paths where no folder is allowed', async () => {
    const closed = await startTools({ own: ['digest_tool'] });
    const body = {
      ...{ trajectory_ids: ['i'], actions: [write('digest_tool')] },
      extra_fields: [{ images: [join(folder, 'images', 'deep', 'a.png')] }],
    };
    const { body: answer } = await post(closed, '/get_observation', body);
    await closed.drain(1);
    expect(answer).toMatchObject({
      observations: [{ invalid_reason: expect.stringContaining('no folder is allowed') }],
      ...{ dones: [true], valids: [false] },
    });
  });
});

describe('a call', () => {
  it.each<[string, unknown]>([
    ['<tool_call>{"tool": "a", "arguments": {"x": 1}}</tool_call>', { tool: 'a', given: { x: 1 } }],
    ['<tool_call>{"name": "a", "arguments": {"x": 1}}', { tool: 'a', given: { x: 1 } }],
    ['<tool_call>{"tool": "a", "task": "t"}</tool_call>', { tool: 'a', given: { task: 't' } }],
    [
      '<tool_call>{"tool": "a", "query": "dog"}</tool_call>',
      { tool: 'a', given: { query: 'dog' } },
    ],
    ['<tool_call>{"tool": "a", "arguments": "dog"}', { tool: 'a', given: { arguments: 'dog' } }],
    ['<tool_call>{"tool": "a"}</tool_call> <tool_call>{"tool": "b"}', { tool: 'a', given: {} }],
    ['<tool_call>[1]</tool_call>', { problem: 'The call is no JSON object.' }],
    ['<tool_call>{"arguments": {}}</tool_call>', { problem: 'The call names no tool.' }],
    ['<tool_call></tool_call>', { problem: 'The call is no JSON.' }],
    [`<tool_call>${'['.repeat(99)}`, { problem: 'The call is no JSON.' }],
    ['no call', undefined],
  ])('is read from %s', (text, call) => {
    expect(readCall(text)).toEqual(call);
  });
});

it('tells the service of an error that nothing explains, and ends that trajectory', async () => {
  const faults: unknown[] = [];
  const other = await startTools(
    { own: ['digest_tool'] },
    { imageFolder: join(folder, 'gone'), onError: (error) => faults.push(error) },
  );
  try {
    const { body } = await post(other, '/get_observation', {
      ...{ trajectory_ids: ['a'], actions: [write('digest_tool')] },
      extra_fields: [{ images: ['a.png'] }],
    });
    expect(body).toMatchObject({ dones: [true], valids: [false] });
    expect(faults).toMatchObject([{ code: 'ENOENT' }]);
  } finally {
    await other.drain(1);
  }
});
