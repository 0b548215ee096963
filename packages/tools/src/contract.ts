/**
 * The contract of tools, as plain checks. Each throws an Error that says what is broken. They need
 * a sandbox and one image.
 */
import { SandboxError } from '@saccade/sandbox';
import type { GivenArguments, Tool, ToolContext } from './tool.ts';

/** One check of `toolContract`, for any test runner. */
export interface ToolCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(tool: Tool, context: ToolContext): Promise<void>;
}

/**
 * The checks that every tool must pass. They run the tool's own example on an image in a sandbox,
 * and give it arguments that do not fit.
 */
export const toolContract: readonly ToolCheck[] = [
  { name: 'says what it is called, what it does and what it takes', check: checkDescribed },
  { name: 'gives an image or text for its example, the same each time', check: checkExample },
  { name: 'refuses an argument it does not have, naming it', check: checkUnknown },
  { name: 'refuses what does not fit, and never throws for it', check: checkHostile },
  { name: 'leaves infrastructure failures to the caller', check: checkFailure },
];

async function checkDescribed({ name, description, parameters }: Tool): Promise<void> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`"${name}" is no snake_case name.`);
  if (description.trim() === '') throw new Error(`${name} does not say what it does.`);
  if (parameters.type !== 'object' || parameters.additionalProperties !== false) {
    throw new Error(`${name} must take an object of known properties.`);
  }
}

async function checkExample(tool: Tool, context: ToolContext): Promise<void> {
  const [first, second] = [
    await tool.call(tool.example, context),
    await tool.call(tool.example, context),
  ];
  if (first.kind !== 'ok') {
    throw new Error(`${tool.name} fails on its example: ${first.error?.message}`);
  }
  const [given, again] = [first, second].map(({ images, stdout }) =>
    [stdout, ...images.map(({ png }) => Buffer.from(png).toString('base64'))].join('\n'),
  );
  if (given === '') throw new Error(`${tool.name} gives nothing for its example.`);
  if (given !== again) throw new Error(`${tool.name} gives two results for one call.`);
}

async function checkUnknown(tool: Tool, context: ToolContext): Promise<void> {
  const outcome = await tool.call({ ...tool.example, no_such_argument: 1 }, context);
  const { type, message } = outcome.error ?? {};
  if (type === 'UnknownArgument' && message?.includes('no_such_argument')) return;
  throw new Error(`${tool.name} takes an argument that it does not have: ${type}.`);
}

const hostile: readonly unknown[] = [
  null,
  '',
  'image',
  '"; raise SystemExit #',
  -1,
  0,
  1e308,
  1e5,
  true,
  [],
  [1],
  [0, 0, 0, 0],
  [9, 9, 1, 1],
  [1e9, 0, 2e9, 1],
  ['0', '0', '9', '9'],
  [[], [], [], []],
  {},
  { constructor: 1 },
];

async function checkHostile(tool: Tool, context: ToolContext): Promise<void> {
  const calls: GivenArguments[] = [{}, JSON.parse('{"__proto__": {"x": 1}}')];
  for (const name of Object.keys(propertiesOf(tool))) {
    for (const value of hostile) calls.push({ ...tool.example, [name]: value });
  }
  for (const given of calls) {
    const { kind, error } = await tool.call(given, context);
    if (kind === 'infraError') {
      throw new Error(`${tool.name} blames the sandbox for ${JSON.stringify(given)}.`);
    }
    if (kind !== 'ok' && error === undefined) {
      throw new Error(`${tool.name} does not say what is wrong with ${JSON.stringify(given)}.`);
    }
  }
}

function propertiesOf({ parameters }: Tool): object {
  const { properties } = parameters;
  return typeof properties === 'object' && properties !== null ? properties : {};
}

async function checkFailure(tool: Tool, context: ToolContext): Promise<void> {
  let isOpened = false;
  const open = async (): Promise<never> => {
    isOpened = true;
    throw new SandboxError('no server');
  };
  const failure = await tool
    .call(tool.example, { ...context, sandbox: { open } })
    .catch((error: unknown) => error);
  // A tool that has services of its own need not open the sandbox.
  if (!isOpened || failure instanceof SandboxError) return;
  throw new Error(`${tool.name} makes a failure of the sandbox the model's.`);
}
