/** The tool unit `served`: a run's own service, called over HTTP. */
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { codeText } from '@saccade/data';
import { type ToolNeedleFacts, toolNeedleWith } from '@saccade/gym';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { callTool, type ToolContext } from '@saccade/tools';
import { expect, it } from 'vitest';
import { served } from './tools/served.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const python = async () => (await ensurePython(environment)).python;
const host = {
  python,
  onEvent: () => {},
  secret: () => '',
};
const settings = (given: object) => served.settings.parse(given);

it('knows its tools before it is opened, and says the known ones for another name', () => {
  const names = served.describe(settings({ names: ['read_code', 'image_flip_tool'] }));
  expect(names.map(({ name }) => name)).toEqual(['read_code', 'image_flip_tool']);
  expect(served.describe(settings({})).length).toBeGreaterThan(5);
  const unknown = () => served.describe(settings({ names: ['crop'] }));
  expect(unknown).toThrow(ConfigError);
  expect(unknown).toThrow(/tools\.served\.names: there is no tool "crop"\. Known: .*read_code/);
});

it('answers over HTTP as the tools do, in the words that cold starts are taught', async () => {
  const task = await toolNeedleWith({ codeShare: 1 }).task('train', 3);
  const { codeBox } = task.metadata as unknown as ToolNeedleFacts;
  const sandbox = await openSandbox({ python: await python() });
  const { tools, dispose } = await served.open(
    settings({ names: ['read_code', 'image_zoom_in_tool'] }),
    host,
  );
  const context: ToolContext = { images: task.images, sandbox };
  const asked = async (name: string, given: Readonly<Record<string, unknown>>) =>
    await callTool(tools, { name, arguments: given }, context);
  try {
    // The reader's box is that of the modules, a margin of 12 pixels and half a pixel inside.
    const [left, top, right, bottom] = codeBox;
    const inner = [left + 12, top + 12, right - 13, bottom - 13] as const;
    expect((await asked('read_code', {})).stdout).toBe(codeText(task.answer, inner));
    const zoomed = await asked('image_zoom_in_tool', { bbox_2d: [0, 0, 40, 30] });
    expect(zoomed.images.map(({ width, height }) => [width, height])).toEqual([[40, 30]]);
    expect((await asked('image_zoom_in_tool', { box: 1 })).error?.type).toBe('UnknownArgument');
  } finally {
    await dispose();
    await sandbox.dispose();
  }
}, 120_000);
