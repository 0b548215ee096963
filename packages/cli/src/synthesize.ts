/** `saccade synthesize`: training data from a teacher, by a paper's pipeline. */
import { join, resolve } from 'node:path';
import { type ChatUsage, openAiChat } from '@saccade/chat';
import { diskReplyCache } from '@saccade/chat/reply-cache';
import type { ScriptedServer } from '@saccade/chat/scripted-server';
import { ConfigError, type EventSink } from '@saccade/core';
import { listSettings, readSettings } from '@saccade/core/settings';
import { createToolEnv, type Task } from '@saccade/gym';
import { type ChatPlayer, openChatPlayer } from '@saccade/rollout/chat-player';
import { openScriptedTeacher, type Player, pipelines, synthesize } from '@saccade/synthesis';
import {
  applySettings,
  openPlayground,
  resolveRun,
  type Setting,
  scoringPartsOf,
  secret,
} from '@saccade/train';
import { findRecipe } from './recipe-arguments.ts';
import { openPython } from './shared.ts';
import { openPolicyPlayer } from './synthesize-policy.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface SynthesizeFlags {
  readonly recipe: string;
  readonly set: readonly Setting[];
  readonly with: readonly Setting[];
  readonly teacher?: string;
  readonly teacherUrl?: string;
  readonly teacherModel?: string;
  readonly teacherKeyVariable?: string;
  readonly judgeUrl?: string;
  readonly judgeModel?: string;
  readonly judgeKeyVariable?: string;
  readonly weak?: string;
  readonly backend: string;
  readonly count: number;
  readonly first: number;
  readonly samples?: number;
  readonly temperature: number;
  readonly turnTokens?: number;
  readonly contextTokens?: number;
  readonly concurrency: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly promptPrice: number;
  readonly completionPrice: number;
  readonly maxCost?: number;
  readonly cache?: string;
  readonly out: string;
}

/** How often the scripted teacher errs, so that filters have something to drop. */
const SCRIPTED = { wrongAnswer: 0.15, wrongStep: 0.15, brokenCode: 0.1, answersEarly: 0.1 };
/** Budgets of a chat model, where the recipe's are those of a small policy. */
const CHAT_TOKENS = { turn: 2048, context: 32_768 };

/** The pipelines with their settings, and examples. */
export function synthesizeHelp(): string {
  const list = pipelines.entries().map(([name, { description, settings, needs }]) => {
    const fields = listSettings(settings).map(({ path, default: preset }) => {
      return `${path}${preset === undefined ? '' : `=${JSON.stringify(preset)}`}`;
    });
    const wants = needs.length === 0 ? '' : ` Wants --${needs.join(', --')}.`;
    return `  ${name}: ${description}${wants}\n    ${fields.join(' ')}`;
  });
  return `
Pipelines, with the settings that --with changes:
${list.join('\n')}

Examples:
  saccade synthesize pyvision --teacher scripted --count 50 --out data/try
  saccade synthesize vista --recipe vista-nano --teacher-url http://127.0.0.1:8000/v1 \\
    --teacher-model m --judge-url http://127.0.0.1:8000/v1 --max-cost 5 --out data/vista
  saccade train --set coldStart=given --set coldStart.path=data/vista/trajectories.jsonl

The same command again goes on where it was stopped.`;
}

export async function synthesizeData(name: string, flags: SynthesizeFlags): Promise<void> {
  const pipeline = pipelines.get(name);
  checkFlags(flags);
  const settings = settingsOf(flags);
  readSettings('with', pipeline.settings, settings);
  const onEvent = terminalProgress({ stream: process.stderr });
  const out = resolve(flags.out);
  const { input } = await findRecipe(flags.recipe);
  const resolved = resolveRun(applySettings(input, [...flags.set]));
  const { config } = resolved;
  const closing: (() => Promise<void>)[] = [];
  try {
    const python = (): Promise<string> => openPython(onEvent);
    const playground = await openPlayground(resolved, { python, onEvent });
    closing.push(() => playground.dispose());
    const { taskSet, protocol, sandbox } = playground;
    const tasks = await tasksOf(taskSet, flags);
    const envOf: Player['envOf'] = (own) => () => createToolEnv({ protocol: own, sandbox });
    const weak =
      flags.weak === undefined
        ? undefined
        : await openPolicyPlayer(flags.weak, { ...flags, protocol, sandbox, onEvent });
    if (weak !== undefined) closing.push(() => weak.dispose());
    const { server, teacher, usage } = await openTeacher(flags, {
      tasks,
      protocol,
      envOf,
      onEvent,
      out,
      sandbox,
      seed: config.seed,
      closing,
    });
    const isChat = usage !== undefined;
    const turnTokens =
      flags.turnTokens ?? (isChat ? CHAT_TOKENS.turn : config.rollout.maxTurnTokens);
    const contextTokens =
      flags.contextTokens ?? (isChat ? CHAT_TOKENS.context : config.rollout.maxContextTokens);
    const judge = judgeOf(flags, server, out);
    sayBudget(flags, tasks, { settings, turns: protocol.budgets.toolTurns });
    const made = await synthesize(
      pipeline,
      settings,
      {
        ...{
          tasks,
          teacher,
          verifier: scoringPartsOf(resolved, out).scoring.verifier,
          directory: out,
        },
        ...(weak && { weak }),
        ...(judge && { judge }),
        ...{ seed: config.seed, concurrency: flags.concurrency, temperature: flags.temperature },
        ...{ maxTurnTokens: turnTokens, maxContextTokens: contextTokens, onEvent },
        ...(usage && { spent: () => spentOf(usage()) }),
      },
      identityOf(flags, config.taskSet, config.protocol),
    );
    for (const { step, given, kept } of made.steps)
      console.log(`${step}: ${kept} of ${given} kept`);
    for (const { name: what, value } of made.facts) console.log(`${what}: ${value}`);
    if (usage !== undefined) console.log(spentOf(usage()));
    const what =
      made.taskIds === undefined
        ? `${made.samples.length} examples in ${made.trajectories}`
        : `${made.taskIds.length} tasks in ${join(out, 'tasks.json')}`;
    console.log(`${what}\nStatistics: ${made.page}`);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Everything that can be known to be wrong before anything is opened. @throws ConfigError */
function checkFlags(flags: SynthesizeFlags): void {
  const { teacher, teacherUrl, teacherModel, judgeUrl, judgeModel } = flags;
  if ((teacher === undefined) === (teacherUrl === undefined)) {
    throw new ConfigError(
      'teacher',
      'teacher: give either --teacher-url with --teacher-model, or --teacher with a run or `scripted`.',
    );
  }
  if (teacherUrl !== undefined && teacherModel === undefined) {
    throw new ConfigError('teacherModel', '--teacher-model: expected the name of the model.');
  }
  if (judgeUrl !== undefined && (judgeModel ?? teacherModel) === undefined) {
    throw new ConfigError('judgeModel', '--judge-model: expected the name of the model.');
  }
  const numbers = {
    temperature: flags.temperature,
    'max-cost': flags.maxCost,
    'prompt-price': flags.promptPrice,
    'completion-price': flags.completionPrice,
    'requests-per-minute': flags.requestsPerMinute,
    'tokens-per-minute': flags.tokensPerMinute,
  };
  for (const [flag, value] of Object.entries(numbers)) {
    // NaN is neither.
    if (value === undefined || value >= 0) continue;
    throw new ConfigError(flag, `--${flag}: expected a number from 0.`);
  }
}

async function tasksOf(
  taskSet: { size(split: 'train'): number; task(split: 'train', index: number): Promise<Task> },
  { count, first }: SynthesizeFlags,
): Promise<readonly Task[]> {
  const most = Math.min(count, Math.max(0, taskSet.size('train') - first));
  if (most === 0) {
    const size = taskSet.size('train');
    throw new ConfigError(
      'count',
      `--count ${count} --first ${first}: the task set has ${size} tasks.`,
    );
  }
  return await Promise.all(
    Array.from({ length: most }, (_, index) => taskSet.task('train', first + index)),
  );
}

interface TeacherParts {
  readonly tasks: readonly Task[];
  readonly protocol: Player['protocol'];
  readonly envOf: Player['envOf'];
  readonly sandbox: Parameters<typeof createToolEnv>[0]['sandbox'];
  readonly onEvent: EventSink;
  readonly out: string;
  readonly seed: number;
  readonly closing: (() => Promise<void>)[];
}

interface OpenTeacher {
  readonly teacher: Player;
  /** The scripted server, which is also the judge. */
  readonly server?: ScriptedServer;
  /** What a chat server has counted. */
  readonly usage?: () => ChatUsage;
}

async function openTeacher(flags: SynthesizeFlags, parts: TeacherParts): Promise<OpenTeacher> {
  const { teacher, teacherUrl, teacherModel, teacherKeyVariable: variable } = flags;
  const { tasks, protocol, envOf, seed, closing } = parts;
  if (teacher !== undefined && teacher !== 'scripted') {
    const player = await openPolicyPlayer(teacher, { ...flags, ...parts });
    closing.push(() => player.dispose());
    return { teacher: player };
  }
  let server: ScriptedServer | undefined;
  if (teacher === 'scripted') {
    server = await openScriptedTeacher({ tasks, protocol, seed, ...SCRIPTED });
    closing.push(() => (server as ScriptedServer).close());
  }
  const apiKey = variable === undefined ? undefined : secret('teacherKeyVariable', variable);
  const sampler: ChatPlayer = await openChatPlayer({
    baseUrl: server?.baseUrl ?? (teacherUrl as string),
    model: teacherModel ?? 'scripted',
    ...chatOptionsOf(flags, parts.out),
    ...(apiKey !== undefined && { apiKey }),
  });
  closing.push(() => sampler.dispose());
  const player = { sampler, protocol, envOf };
  return { teacher: player, usage: () => sampler.usage(), ...(server && { server }) };
}

function chatOptionsOf(flags: SynthesizeFlags, out: string) {
  const { promptPrice, completionPrice, maxCost, concurrency: maxConcurrent } = flags;
  const { requestsPerMinute, tokensPerMinute, teacher } = flags;
  const cacheDirectory = flags.cache ?? join(out, 'replies');
  return {
    ...{ promptPrice, completionPrice, maxConcurrent },
    ...(maxCost !== undefined && { maxCost }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    // A scripted server has another address every time, so its replies would never be found again.
    ...(teacher !== 'scripted' && { cacheDirectory }),
  };
}

function judgeOf(flags: SynthesizeFlags, server: ScriptedServer | undefined, out: string) {
  const { judgeUrl, judgeModel, teacherModel, judgeKeyVariable: variable, cache } = flags;
  if (server !== undefined && judgeUrl === undefined) {
    return openAiChat({ baseUrl: server.baseUrl, model: 'scripted' });
  }
  if (judgeUrl === undefined) return undefined;
  const model = judgeModel ?? (teacherModel as string);
  const apiKey = variable === undefined ? undefined : secret('judgeKeyVariable', variable);
  return openAiChat({
    ...{ baseUrl: judgeUrl, model, maxConcurrent: flags.concurrency },
    cache: diskReplyCache(cache ?? join(out, 'replies')),
    ...(apiKey !== undefined && { apiKey }),
  });
}

function settingsOf({ with: given, samples }: SynthesizeFlags): Record<string, unknown> {
  const settings = Object.fromEntries(given.map(({ path, value }) => [path, value]));
  return samples === undefined ? settings : { ...settings, samples };
}

const spentOf = ({ requests, cached, cost, promptTokens, completionTokens }: ChatUsage): string =>
  `${requests} requests (${cached} from the cache), ${promptTokens} + ${completionTokens} tokens, cost ${cost.toFixed(4)}`;

/** Says what the teacher may cost before anything is sent. */
function sayBudget(
  flags: SynthesizeFlags,
  tasks: readonly Task[],
  { settings, turns }: { readonly settings: Record<string, unknown>; readonly turns: number },
): void {
  if (flags.teacherUrl === undefined) return;
  const { promptPrice, completionPrice, maxCost } = flags;
  const samples = typeof settings.samples === 'number' ? settings.samples : 1;
  const requests = tasks.length * samples * (turns + 1);
  const tokens = flags.turnTokens ?? CHAT_TOKENS.turn;
  // Every turn may be as long as it may, and every prompt as long as the context.
  const context = flags.contextTokens ?? CHAT_TOKENS.context;
  const most = (requests * (tokens * completionPrice + context * promptPrice)) / 1e6;
  const bound = maxCost === undefined ? 'no --max-cost is set' : `--max-cost ${maxCost}`;
  console.error(
    `${tasks.length} tasks, ${samples} trajectories each: at most ${requests} requests, cost at most ` +
      `${most.toFixed(2)} at these prices; ${bound}.`,
  );
}

/** What makes the data what they are; a directory holds those of one identity. */
function identityOf(flags: SynthesizeFlags, taskSet: unknown, protocol: unknown) {
  const { count, first, temperature, teacher, teacherModel, weak } = flags;
  return {
    ...{ taskSet, protocol, count, first, temperature },
    teacher: teacher ?? teacherModel,
    ...(weak !== undefined && { weak: resolve(weak) }),
  };
}
