/** Images on their way to a server: only where a person has said so, and as they have said. */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { callTool, type ToolImage } from '@saccade/tools';
import { encode } from 'fast-png';
import { afterEach, expect, it } from 'vitest';
import { nothing, type OpenMcp, openHostile } from '../open-mcp.fixture.ts';

const imageOf = (width: number, height: number, index: number): ToolImage => ({
  name: `image_${index}`,
  png: encode({ width, height, channels: 3, data: new Uint8Array(width * height * 3) }),
  ...{ width, height },
});
const images = [imageOf(3, 2, 0), imageOf(5, 4, 1)];
const base64 = images.map(({ png }) => Buffer.from(png).toString('base64'));

let open: OpenMcp;
afterEach(() => open.dispose());

async function given(plan: string, name: string, values: object, shown = images): Promise<unknown> {
  open = await openHostile('images', { images: [plan] });
  const call = { name, arguments: values as Record<string, unknown> };
  const outcome = await callTool(open.tools, call, { ...nothing, images: shown });
  if (outcome.kind !== 'ok') return outcome.error;
  const said = JSON.parse(outcome.stdout);
  return said.given ?? said;
}

it.each([
  ['look.image=base64', { image: 1 }, { image: base64[1] }],
  [
    'look.image=data-url',
    { image: 0, note: 'a' },
    { image: `data:image/png;base64,${base64[0]}`, note: 'a' },
  ],
  ['look.image=base64:last', {}, { image: base64[1] }],
  ['look.image=base64:first', { note: 'b' }, { image: base64[0], note: 'b' }],
])('%s puts the image where it belongs', async (plan, values, expected) => {
  expect(await given(plan, 'look', values)).toEqual(expected);
});

it.each([
  ['look.image=base64', {}, 'MissingArgument', /argument image is missing/],
  ['look.image=base64', { image: 2 }, 'BadArgument', /no image 2\. Write 0 to 1/],
  ['look.image=base64', { image: 'data' }, 'BadArgument', /it must be integer/],
  ['look.image=base64', { image: -1 }, 'BadArgument', /must be >= 0/],
  ['look.image=base64:last', { image: 0 }, 'UnknownArgument', /no argument image/],
])('%s refuses %j', async (plan, values, type, message) => {
  expect(await given(plan, 'look', values)).toMatchObject({
    type,
    message: expect.stringMatching(message),
  });
});

it('says where there is no image at all', async () => {
  expect(await given('look.image=base64:last', 'look', {}, [])).toMatchObject({
    type: 'BadArgument',
    message: 'The argument image does not fit: there is no image -1. There are none.',
  });
});

it('hands a file over and removes it', async () => {
  const files = () => readdirSync(tmpdir()).filter((name) => name.startsWith('saccade-mcp-'));
  const before = files();
  expect(await given('open.file=path', 'open', { file: 1 })).toBe(images[1]?.png.length);
  const [folder = ''] = files().filter((name) => !before.includes(name));
  expect(readdirSync(`${tmpdir()}/${folder}`)).toEqual([]);
  await open.dispose();
  expect(files()).not.toContain(folder);
});

it('gives no image without a plan: what the model writes is passed on as it is', async () => {
  open = await openHostile('images');
  const call = { name: 'look', arguments: { image: 'image_0' } };
  const { stdout } = await callTool(open.tools, call, { ...nothing, images });
  expect(JSON.parse(stdout).given).toEqual({ image: 'image_0' });
});
