/** A run whose tools are those of a service: the same observations, and failures of the tools' own. */
import { join } from 'node:path';
import type { Env, Task } from '@saccade/gym';
import { ensurePython } from '@saccade/sandbox';
import { openToolService, type ToolService } from '@saccade/tool-service/service';
import { imageFlipTool, imageZoomInTool } from '@saccade/tools';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlayground, type Playground } from './playground.ts';
import { type RunInput, resolveRun } from './run-config.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const python = async () => (await ensurePython(environment)).python;
const onEvent = () => {};

let service: ToolService;
const opened: Playground[] = [];
beforeAll(async () => {
  const tools = [imageZoomInTool, imageFlipTool].map((choice) => ({ choice, settings: {} }));
  service = await openToolService({ tools, python });
}, 300_000);
afterAll(async () => {
  for (const playground of opened) await playground.dispose();
  await service?.drain(1);
});

async function envOf(
  tools: NonNullable<RunInput['tools']>,
): Promise<{ readonly env: Env; readonly task: Task }> {
  const alone = { coldStart: null, sft: { updates: 0 } };
  const run = resolveRun({ protocol: 'vista', taskSet: 'needle', tools, ...alone });
  const playground = await openPlayground(run, { python, onEvent });
  opened.push(playground);
  const task = await playground.taskSet.task('train', 0);
  const env = await playground.makeEnv();
  await env.reset(task);
  return { env, task };
}

const look =
  '{"tool": "image_zoom_in_tool", "task": "look", "arguments": {"bbox_2d": [0, 0, 40, 40]}}';
const text = `<think>I look.</think><tool_call>${look}</tool_call>`;

it('has the observations of the same tools here, and fails as a tool does when they are gone', async () => {
  const here = await envOf(['image_zoom_in_tool', 'image_flip_tool']);
  const there = await envOf([{ name: 'remote', url: service.url, timeoutSeconds: 10 }]);
  const expected = await here.env.step(text);
  const { observation, result } = await there.env.step(text);
  expect(observation).toEqual(expected.observation);
  expect(result?.imageCount).toBe(1);
  await service.drain(1);
  await expect(there.env.step(text)).rejects.toMatchObject({ code: 'tool' });
  for (const { env } of [here, there]) await env.dispose();
}, 300_000);

it('is not opened where nothing listens', async () => {
  await expect(envOf([{ name: 'remote', url: 'http://127.0.0.1:9' }])).rejects.toMatchObject({
    code: 'missing',
  });
}, 300_000);
