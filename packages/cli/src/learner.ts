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
import { hubOf, openBackend, secret } from '@saccade/train';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface LearnerFlags {
  readonly from: string;
  readonly base?: string;
  readonly loraRank?: number;
  readonly keyVariable?: string;
  readonly json?: boolean;
}

export interface LearnerMeasureFlags extends LearnerFlags {
  readonly images: boolean;
}

export interface LearnerCheckFlags extends LearnerFlags {
  readonly against?: boolean;
  readonly backend: string;
}

export async function checkLearner(url: string, flags: LearnerCheckFlags): Promise<void> {
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

export async function measureLearner(url: string, flags: LearnerMeasureFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const processor = await loadProcessor(await directoryOf(flags.from, onEvent, false));
  const client = await openTinkerClient(connectionOf(url, flags));
  try {
    const [first = ''] = client.capabilities.models;
    const { request = { baseModel: first } } = requestOf(flags, first);
    const measured = await measureServer(client, {
      request,
      processor,
      ...(!flags.images && { images: false }),
    });
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
