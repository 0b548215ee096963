/** `saccade learner`: what a server of the Tinker protocol is worth, before a run depends on it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import { type LocalPolicy, loadLocalPolicy, loadProcessor } from '@saccade/policy';
import { fetchModel, parseModelSource } from '@saccade/policy/models';
import {
  describeMeasurement,
  type ModelRequest,
  measureServer,
  openTinkerClient,
} from '@saccade/tinker';
import { type ConformanceResult, runConformance } from '@saccade/tinker/conformance';
import { backends, hubOf, openBackend, secret } from '@saccade/train';
import type { Command } from 'commander';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface LearnerFlags {
  readonly from: string;
  readonly base?: string;
  readonly loraRank?: number;
  readonly keyVariable?: string;
  readonly json?: boolean;
}

interface CheckFlags extends LearnerFlags {
  readonly against?: boolean;
  readonly backend: string;
}

export function addLearner(program: Command): void {
  const learner = program
    .command('learner')
    .description('Measure and check servers that train: the Tinker protocol.');
  addCommon(
    learner
      .command('check')
      .description('Run the conformance suite against a server, ours or anyone’s.')
      .argument('<url>', 'its address, without /api/v1'),
  )
    .option('--against', 'compare with the weights of --from on local kernels, number by number')
    .option('--backend <name>', `for --against: one of ${backends.names.join(', ')}`, 'native')
    .addHelpText(
      'after',
      `
Models are made for it and unloaded after it. The exit status is 1 if a check failed.

Examples:
  saccade serve learner runs/mine --expose-gradients
  saccade learner check http://127.0.0.1:8760 --from runs/mine/checkpoints/step-000016/policy --against
  saccade learner check http://gpu:8000 --from hf:Qwen/Qwen2.5-VL-3B-Instruct --lora-rank 16`,
    )
    .action((url: string, flags: CheckFlags) => check(url, flags));
  addCommon(
    learner
      .command('measure')
      .description('Say what a server’s numbers mean, and what can be trained there.')
      .argument('<url>', 'its address, without /api/v1'),
  )
    .addHelpText(
      'after',
      `
A run with model=remote does the same before it begins.

Examples:
  saccade learner measure http://127.0.0.1:8000 --from hf:Qwen/Qwen3-VL-4B-Instruct --lora-rank 8`,
    )
    .action((url: string, flags: LearnerFlags) => measure(url, flags));
}

function addCommon(command: Command): Command {
  return command
    .requiredOption('--from <path>', 'tokenizer and processor of the base: a directory, or hf:…')
    .option('--base <name>', 'the base as the server calls it (default: the first it has)')
    .option(
      '--lora-rank <n>',
      'train an adapter of this rank (default: whole weights)',
      wholeNumber,
    )
    .option('--key-variable <name>', 'environment variable with the API key')
    .option('--json', 'print JSON');
}

async function check(url: string, flags: CheckFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const directory = await directoryOf(flags.from, onEvent, flags.against ?? false);
  const processor = await loadProcessor(directory);
  const device = flags.against ? await openBackend(flags.backend) : undefined;
  const local = device && ((): Promise<LocalPolicy> => loadLocalPolicy({ device, directory }));
  try {
    const results = await runConformance({
      ...connectionOf(url, flags),
      processor,
      ...requestOf(flags),
      ...(local && { local }),
      onResult: (result) => {
        if (!flags.json) say(lineOf(result));
      },
    });
    const failed = results.filter(({ status }) => status === 'failed').length;
    const skipped = results.filter(({ status }) => status === 'skipped').length;
    if (flags.json) printJson({ url, failed, skipped, results });
    else
      say(`${results.length - failed - skipped} hold, ${failed} do not, ${skipped} not looked at.`);
    if (failed > 0) process.exitCode = 1;
  } finally {
    device?.dispose();
  }
}

function lineOf({ number, name, status, detail }: ConformanceResult): string {
  const word = { ok: 'ok     ', failed: 'FAILED ', skipped: 'skipped' }[status];
  return `${word} ${String(number).padStart(2)}  ${name}: ${detail}`;
}

async function measure(url: string, flags: LearnerFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const processor = await loadProcessor(await directoryOf(flags.from, onEvent, false));
  const client = await openTinkerClient(connectionOf(url, flags));
  try {
    const [first = ''] = client.capabilities.models;
    const { request = { baseModel: first } } = requestOf(flags, first);
    const measured = await measureServer(client, { request, processor });
    if (flags.json) printJson(measured);
    else for (const line of describeMeasurement(measured)) say(line);
    if (measured.verdict === 'refused') process.exitCode = 1;
  } finally {
    client.dispose();
  }
}

function requestOf(
  { base, loraRank }: LearnerFlags,
  first?: string,
): { readonly request?: ModelRequest } {
  const baseModel = base ?? first;
  const lora = loraRank === undefined ? undefined : { rank: loraRank };
  if (baseModel !== undefined) return { request: { baseModel, ...(lora && { lora }) } };
  if (lora === undefined) return {};
  throw new ConfigError('--base', 'An adapter is of a base: give --base its name.');
}

function connectionOf(baseUrl: string, { keyVariable }: LearnerFlags) {
  if (keyVariable === undefined) return { baseUrl };
  return { baseUrl, token: secret('--key-variable', keyVariable) };
}

async function directoryOf(from: string, onEvent: EventSink, weights: boolean): Promise<string> {
  const source = parseModelSource(from, '--from');
  if (source.kind === 'hub') {
    return await fetchModel({ ...hubOf(process.env), onEvent }, source, { weights });
  }
  const directory = resolve(source.directory);
  if (existsSync(directory)) return directory;
  throw new ConfigError('--from', `--from: there is no ${directory}. Give a policy's directory.`);
}
