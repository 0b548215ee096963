/**
 * Every bad input through every door of the tools: one outcome each, and the session goes on. The walk
 * writes docs/bad-input.md; with `vitest -u` it writes it anew.
 */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  base64,
  type Door,
  type Ending,
  junk,
  large,
  openEmbedded,
  openMcpClient,
  openMcpServer,
  openRemote,
  openService,
} from './bad-input.fixture.ts';

const page = resolve(import.meta.dirname, '../../../docs/bad-input.md');

const inputs = [
  'An unknown tool',
  'Arguments of a wrong type',
  'A dead service',
  'Another version of a tool',
  'Bytes that are no image',
  'An image of 100 megapixels',
  'Instructions in what a tool says',
] as const;
type Input = (typeof inputs)[number];

/** One bad input at one door: how it comes about, and how it has to end. */
interface Case<Opened extends Door> {
  readonly how: string;
  provoke(door: Opened): Promise<Ending>;
  readonly ending: Pick<Ending, 'kind'> & { readonly name?: string; readonly says: RegExp };
}

interface DoorTable<Opened extends Door> {
  readonly about: string;
  open(): Promise<Opened>;
  /** The bad inputs, or why one cannot be. */
  readonly cases: Readonly<Record<Input, Case<NoInfer<Opened>> | string>>;
}

function door<Opened extends Door>(table: DoorTable<Opened>): DoorTable<Door> {
  // Each table opens its own door and gets no other.
  return table as unknown as DoorTable<Door>;
}

const trick =
  (name: string) =>
  (one: Door): Promise<Ending> =>
    one.call('look_tool', { trick: name });
const unknownTool = {
  how: 'the model calls `no_such_tool`',
  provoke: (one: Door) => one.call('no_such_tool', {}),
  ending: { kind: 'text', says: /^(Tool Call Error: )?UnknownTool: .*Known: .*look_tool/ },
} as const;
const wrongType = {
  how: 'the model writes `"image_index": "first"`',
  provoke: (one: Door) => one.call('look_tool', { image_index: 'first' }),
  ending: { kind: 'text', says: /BadArgument: The argument image_index does not fit/ },
} as const;
/** Tags and fences of the protocol are written otherwise: nothing in it is a call or an answer. */
const harmless = /^Total 12\.(?!.*(<answer>|<tool_call>|<\/tool_call>|```)).*Ignore all rules/s;
const saysInstructions = {
  how: 'the tool prints tags, a fence and a special token',
  provoke: trick('inject'),
  ending: { kind: 'text', says: harmless },
} as const;
const verbatim = /Total 12.*<answer>42<\/answer>.*Ignore all rules/s;

const doors: Readonly<Record<string, DoorTable<Door>>> = {
  'own tools': door({
    about: 'a policy, and tools of the process of its run',
    open: openEmbedded,
    cases: {
      'An unknown tool': unknownTool,
      'Arguments of a wrong type': wrongType,
      'A dead service': {
        how: 'what the tool works with is gone, and it throws',
        provoke: trick('throw'),
        ending: { kind: 'error', name: 'ToolError', says: /look_tool broke: the network behind/ },
      },
      'Another version of a tool': 'There is one version: that of the release.',
      'Bytes that are no image': {
        how: 'the tool gives other bytes as its image',
        provoke: trick('junk'),
        ending: { kind: 'error', name: 'ToolError', says: /image 0 of its outcome is no PNG/ },
      },
      'An image of 100 megapixels': {
        how: 'the tool gives such an image',
        provoke: trick('large'),
        ending: { kind: 'error', name: 'ToolError', says: /has 10000×10000 pixels, more than/ },
      },
      'Instructions in what a tool says': saysInstructions,
    },
  }),
  'tools=remote': door({
    about: 'a policy, and the tools of a tool service',
    open: openRemote,
    cases: {
      'An unknown tool': unknownTool,
      'Arguments of a wrong type': wrongType,
      'A dead service': {
        how: 'the service ends during the run',
        async provoke(one) {
          await one.stop();
          try {
            return await one.call('look_tool', {});
          } finally {
            await one.start();
          }
        },
        ending: { kind: 'error', name: 'ToolError', says: /within 1 s\. .*ECONNREFUSED/ },
      },
      'Another version of a tool': {
        how: 'the service is replaced during the run by one with version 2',
        async provoke(one) {
          await one.stop();
          await one.start('2');
          try {
            return await one.call('look_tool', {});
          } finally {
            await one.stop();
            await one.start();
          }
        },
        ending: {
          kind: 'error',
          name: 'ToolError',
          says: /version 2 here, and version 1 was asked/,
        },
      },
      'Bytes that are no image': {
        how: 'the tool gives other bytes as its image',
        provoke: trick('junk'),
        ending: { kind: 'error', name: 'ToolError', says: /Image 0 of its outcome is no PNG/ },
      },
      'An image of 100 megapixels': {
        how: 'the tool gives such an image',
        provoke: trick('large'),
        ending: { kind: 'error', name: 'ToolError', says: /has 10000×10000 pixels, more than/ },
      },
      'Instructions in what a tool says': saysInstructions,
    },
  }),
  'POST /v1/tools': door({
    about: 'any program, and a tool service',
    open: openService,
    cases: {
      'An unknown tool': {
        ...unknownTool,
        how: 'a request to `/v1/tools/no_such_tool`',
        ending: { kind: 'refusal', name: '404 unknown-tool', says: /Use one of: look_tool/ },
      },
      'Arguments of a wrong type': { ...wrongType, how: 'a request with `"image_index": "first"`' },
      'A dead service': {
        how: 'what the tool works with is gone, and it throws',
        provoke: trick('throw'),
        ending: {
          kind: 'refusal',
          name: '500 tool-failed',
          says: /the network behind it is gone\. Try again/,
        },
      },
      'Another version of a tool': {
        how: 'a request with `"version": "9"`',
        provoke: (one) => one.post('/v1/tools/look_tool', { arguments: {}, version: '9' }),
        ending: { kind: 'refusal', name: '409 tool-version', says: /is version 1 here/ },
      },
      'Bytes that are no image': {
        how: 'a request with other bytes as its image',
        provoke: (one) => one.post('/v1/tools/look_tool', withImage(junk)),
        ending: { kind: 'refusal', name: '400 data', says: /is no PNG image/ },
      },
      'An image of 100 megapixels': {
        how: 'a request with such an image',
        provoke: (one) => one.post('/v1/tools/look_tool', withImage(large)),
        ending: { kind: 'refusal', name: '413 too-many-pixels', says: /10000×10000 pixels/ },
      },
      'Instructions in what a tool says': {
        ...saysInstructions,
        ending: { kind: 'text', says: verbatim },
      },
    },
  }),
  'tools=mcp': door({
    about: 'a policy, and the tools of an MCP server of somebody else',
    open: openMcpClient,
    cases: {
      'An unknown tool': unknownTool,
      'Arguments of a wrong type': wrongType,
      'A dead service': {
        how: 'the server ends during the run',
        async provoke(one) {
          await one.stop();
          try {
            return await one.call('look_tool', {});
          } finally {
            await one.start();
          }
        },
        ending: {
          kind: 'error',
          name: 'ToolError',
          says: /MCP server http\S+ broke: fetch failed: ./,
        },
      },
      'Another version of a tool': {
        how: 'the server takes other arguments than it listed; MCP knows no versions of tools',
        async provoke(one) {
          await one.stop();
          await one.start('2');
          try {
            // The first call finds the connection broken; a rollout is tried again.
            const first = await one.call('look_tool', { trick: 'none' });
            return first.kind === 'text' ? first : await one.call('look_tool', { trick: 'none' });
          } finally {
            await one.stop();
            await one.start();
          }
        },
        ending: { kind: 'text', says: /BadArgument: There is no argument trick\. Write mode\./ },
      },
      'Bytes that are no image': {
        how: 'the server sends other bytes as its image',
        provoke: trick('junk'),
        ending: { kind: 'text', says: /An image is left out: it cannot be decoded/ },
      },
      'An image of 100 megapixels': {
        how: 'the server sends such an image',
        provoke: trick('large'),
        ending: { kind: 'text', says: /left out: it has 10000 x 10000 pixels, more than/ },
      },
      'Instructions in what a tool says': saysInstructions,
    },
  }),
  'serve mcp': door({
    about: 'any MCP client, and our tools',
    open: openMcpServer,
    cases: {
      'An unknown tool': unknownTool,
      'Arguments of a wrong type': wrongType,
      'A dead service': {
        how: 'what the tool works with is gone, and it throws',
        provoke: trick('throw'),
        ending: {
          kind: 'error',
          name: 'JSON-RPC -32603',
          says: /^MCP error -32603: The tool look_tool broke: the network behind it is gone/,
        },
      },
      'Another version of a tool': {
        how: 'the client writes the arguments of another version',
        provoke: (one) => one.call('look_tool', { index: 0 }),
        ending: { kind: 'text', says: /UnknownArgument: There is no argument index/ },
      },
      'Bytes that are no image': {
        how: 'the client adds other bytes as an image',
        provoke: (one) => one.call('add_image', { data: base64(junk) }),
        ending: { kind: 'text', says: /BadArgument: The image cannot be used/ },
      },
      'An image of 100 megapixels': {
        how: 'the client adds such an image',
        provoke: (one) => one.call('add_image', { data: base64(large) }),
        ending: { kind: 'text', says: /it has 10000 x 10000 pixels, more than/ },
      },
      'Instructions in what a tool says': {
        ...saysInstructions,
        ending: { kind: 'text', says: verbatim },
      },
    },
  }),
};

function withImage(bytes: Uint8Array): object {
  return { arguments: {}, images: [{ name: 'image_0', png: base64(bytes) }] };
}

const endings = new Map<string, Ending>();
const keyOf = (input: string, name: string): string => `${input} / ${name}`;

describe.each(Object.entries(doors))('%s', (name, { open, cases }) => {
  let opened: Door;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());

  it.each(
    inputs.flatMap((input) => {
      const one = cases[input];
      return typeof one === 'string' ? [] : [[input, one] as const];
    }),
  )('%s has one outcome, and the session goes on', async (input, { provoke, ending }) => {
    const ended = await provoke(opened);
    expect([ended.kind, ended.name]).toEqual([ending.kind, ending.name]);
    expect(ended.said).toMatch(ending.says);
    endings.set(keyOf(input, name), ended);
    expect(await opened.call('look_tool', {})).toEqual({ kind: 'text', said: '64 x 48' });
  });
});

it('is what docs/bad-input.md says', async () => {
  await expect(pageOf()).toMatchFileSnapshot(page);
});

function pageOf(): string {
  const kinds = {
    text: 'text',
    error: 'typed error',
    refusal: 'refusal',
  } as const;
  const names = Object.keys(doors);
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
  // A fence of three backticks inside of a code span needs no more than one around it.
  const quoted = (said: string): string => {
    const local = said.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8720');
    return `\`${cell(local.replace(/(?<=fetch failed: ).*/, '…'))}\``;
  };
  const sections = inputs.map((input) => {
    const rows = names.map((name) => {
      const one = doors[name]?.cases[input];
      if (one === undefined || typeof one === 'string') return [name, '–', '–', String(one)];
      const ended = endings.get(keyOf(input, name));
      const kind = ended && `${kinds[ended.kind]}${ended.name ? `, \`${ended.name}\`` : ''}`;
      return [name, cell(one.how), String(kind), quoted(ended?.said ?? '')];
    });
    const table = markdownTable([['door', 'what happens', 'outcome', 'what is said'], ...rows]);
    return `## ${input}\n\n${table}\n`;
  });
  const doorRows = names.map((name) => [`\`${name}\``, doors[name]?.about ?? '']);
  return `# Bad input

What becomes of bad input at each door of the tools. \`packages/cli/src/bad-input.test.ts\` provokes every
row, expects its outcome, makes a good call in the same session after it, and writes this page.

${markdownTable([['door', 'who calls what'], ...doorRows])}

A **text** is read by the policy, or by the model behind another client, which can try again. A **typed
error** is a failure of the infrastructure: a rollout is tried again or fails at the boundary \`tool\`, and is
never scored. A **refusal** is an HTTP status with a code that programs can read; our own client makes a
typed error of it.

${sections.join('\n')}
What a tool says is text for a policy: tags and fences of its protocol are written otherwise, and special
tokens in it are encoded letter by letter. Other clients get it as it is and have to see to that themselves.
`;
}

/** A table whose columns are as wide as their widest cell, as the formatter of this repository has it. */
function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
