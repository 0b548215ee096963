/** Tools that break when they are told to, around any other tools: for tests and load. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantity, type SettingsOf, text, textList } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import {
  defineToolUnit,
  type GivenArguments,
  openTools,
  type Tool,
  type ToolBatchCall,
} from '@saccade/tools';
import { z } from 'zod';
import { namedToolOf } from '../placement.ts';
import { chooseTools, loadChoices } from '../places/load-choices.ts';

/**
 * How a call breaks:
 * - `crash` its process ends, each time; `crash-once` the first time only;
 * - `hang` it never ends; `block` nor does anything else in its process;
 * - `slow` it ends, but late;
 * - `garbage` it gives something that is no outcome;
 * - `memory` it takes memory until there is none.
 */
export const faults = [
  ...(['crash', 'crash-once', 'hang', 'block', 'slow', 'garbage', 'memory'] as const),
] as const;
/** One of them. */
export type Fault = (typeof faults)[number];

const settings = z.strictObject({
  modules: textList({ unit: 'URLs', about: 'Modules that the tools come from.' }),
  tools: z
    .array(z.looseObject({ name: z.string().min(1) }))
    .default([])
    .meta({ unit: 'tools', description: 'The tools, each with its settings.' }),
  scratch: text({ default: '.', unit: 'path', about: 'A folder for notes of calls that crashed.' }),
  slowSeconds: quantity({
    ...{ min: 0, max: 3600, default: 30, unit: 'seconds' },
    about: 'How long a slow call takes.',
  }),
  loadSeconds: quantity({
    ...{ min: 0, max: 3600, default: 0, unit: 'seconds' },
    about: 'How much longer the first call takes, as that of a model which is loaded then.',
  }),
});

/** The tools that are named, with two more arguments: `fault`, and `ticket`, unlike in all calls. */
export const faulty = defineToolUnit({
  name: 'faulty',
  description: 'Other tools, which break when they are told to.',
  settings,
  describe: () => [],
  async open({ modules, tools: named, loadSeconds, ...rest }, host) {
    const choices = await loadChoices(modules);
    const chosen = chooseTools(choices, named.map(namedToolOf));
    const { tools, dispose } = await openTools(chosen, host);
    let loading: Promise<void> | undefined;
    const loaded = () => {
      loading ??= loadSeconds > 0 ? sleep(loadSeconds * 1000) : Promise.resolve();
      return loading;
    };
    const how = { ...rest, loaded };
    return { tools: tools.map((tool) => breaking(tool, how)), dispose };
  },
});

/** How calls break. */
interface Breaking extends Pick<SettingsOf<typeof settings>, 'scratch' | 'slowSeconds'> {
  /** Resolves once what the first call loads is there. */
  loaded(): Promise<void>;
}

/** The arguments of a call that breaks. */
interface Broken {
  readonly fault?: Fault;
  readonly ticket?: string;
}

function breaking(tool: Tool, how: Breaking): Tool {
  const { properties } = tool.parameters;
  const own = { fault: { enum: faults }, ticket: { type: 'string' } };
  const takesTicket = Object.hasOwn((properties ?? {}) as object, 'ticket');
  const split = (given: GivenArguments): readonly [Broken, GivenArguments] => {
    const { fault, ticket, ...rest } = given as GivenArguments & Broken;
    const broken = { ...(fault && { fault }), ...(ticket && { ticket }) };
    return [broken, takesTicket && ticket !== undefined ? { ...rest, ticket } : rest];
  };
  const { callBatch } = tool;
  return {
    ...tool,
    parameters: { ...tool.parameters, properties: { ...(properties as object), ...own } },
    async call(given, context) {
      const [broken, rest] = split(given);
      return (await breakDown(broken, how)) ?? (await tool.call(rest, context));
    },
    ...(callBatch && {
      async callBatch(calls: readonly ToolBatchCall[]) {
        const parts = calls.map(({ given }) => split(given));
        const broken = await Promise.all(parts.map(([one]) => breakDown(one, how)));
        const outcomes = await callBatch.call(
          tool,
          calls.map(({ context }, index) => ({ given: parts[index]?.[1] ?? {}, context })),
        );
        return outcomes.map((outcome, index) => broken[index] ?? outcome);
      },
    }),
  };
}

/** Breaks as it is told to; undefined where it is not. */
async function breakDown(
  { fault, ticket = '' }: Broken,
  { scratch, slowSeconds, loaded }: Breaking,
): Promise<Outcome | undefined> {
  await loaded();
  if (fault === 'crash') process.kill(process.pid, 'SIGKILL');
  if (fault === 'crash-once') {
    const note = join(scratch, `${ticket.replaceAll(/\W/g, '_')}.crashed`);
    if (existsSync(note)) return undefined;
    writeFileSync(note, '');
    process.kill(process.pid, 'SIGKILL');
  }
  if (fault === 'hang') await new Promise(() => {});
  if (fault === 'block') for (;;);
  if (fault === 'slow') await sleep(slowSeconds * 1000);
  if (fault === 'garbage') return { kind: 'fine', images: 'none' } as unknown as Outcome;
  if (fault === 'memory') {
    const held: unknown[] = [];
    for (;;) held.push(new Array(2 ** 20).fill(held.length));
  }
  return undefined;
}
