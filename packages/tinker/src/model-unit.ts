/** A model that trains on other machines, behind a server of the Tinker protocol. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import {
  choice,
  count,
  optionalQuantity,
  optionalText,
  quantity,
  text,
  textList,
  z,
} from '@saccade/core/settings';
import { patientFetch } from '@saccade/http/patient-fetch';
import { loadProcessor } from '@saccade/policy';
import {
  defineModel,
  fetchModel,
  type Hub,
  type ModelContext,
  parseModelSource,
} from '@saccade/policy/models';
import { type ModelRequest, openTinkerClient, type TinkerClient } from './client/tinker-client.ts';
import { type MeasureOptions, measureServer } from './measure/measure-server.ts';
import { describeMeasurement, type Measurement } from './measure/measurement.ts';
import { openRemoteLearner } from './remote/remote-learner.ts';
import { TinkerError } from './wire/tinker-error.ts';

/** Starts of a server that one measurement lives through. */
const MOST_LOSSES = 20;
const FIELD = 'model.from';
const file = (about: string) => optionalText({ unit: 'file', about });

const lora = z.strictObject({
  rank: count({ min: 1, max: 4096, default: 16, unit: 'rows', about: 'Rank r of each adapter.' }),
  alpha: optionalQuantity({
    min: 1e-3,
    max: 65_536,
    unit: 'a factor times the rank',
    about: 'α: what an adapter adds is scaled by α/r; unset: the server’s own.',
  }),
  targets: textList({
    unit: 'patterns',
    about:
      'Linear layers of the language model that are adapted, on servers that take them. Empty: all.',
  }),
});

const settings = z.strictObject({
  baseUrl: text({
    default: 'http://127.0.0.1:8760',
    unit: 'URL',
    about: 'Address of the server, without /api/v1.',
  }),
  baseModel: optionalText({
    unit: 'name',
    about: 'The base as the server calls it; unset: the first one that it has.',
  }),
  from: optionalText({
    unit: 'path or name',
    about:
      'Tokenizer and processor of the base: a directory, or hf:owner/name; unset: baseModel as a ' +
      'directory or a name of the hub.',
  }),
  lora: lora.optional(),
  keyVariable: optionalText({
    unit: 'name',
    about: 'Environment variable with the server’s API key; unset: no key.',
  }),
  caFile: file('PEM certificates of the server’s authority; unset: the system’s.'),
  certFile: file('PEM certificate of this client, for mutual TLS.'),
  keyFile: file('PEM key of this client.'),
  measure: choice(['strict', 'report'], {
    default: 'strict',
    about:
      'What follows if the server’s numbers do not mean what a run needs: strict ends the run before ' +
      'it begins, report says so and goes on.',
  }),
  acceptIgnored: textList({
    unit: 'fields',
    about: 'Fields of the optimizer that the server may ignore, such as beta2 or eps.',
  }),
  deadlineSeconds: quantity({
    min: 1,
    max: 604_800,
    default: 3600,
    unit: 'seconds',
    about: 'Time limit of one call, its waiting in the server’s queue included.',
  }),
  returnSeconds: quantity({
    min: 1,
    max: 604_800,
    default: 600,
    unit: 'seconds',
    about: 'Time in which a server that is gone must be back; then the run goes on where it was.',
  }),
  recoverySteps: count({
    min: 1,
    max: 10_000,
    default: 16,
    unit: 'optimizer steps',
    about:
      'Steps after which the server saves everything, so that a loss costs no more than these.',
  }),
});

type Settings = z.output<typeof settings>;

/** The unit of a run's slot `model`: a server is measured, then trained on. */
export const remote = defineModel({
  name: 'remote',
  description: 'Weights on other machines, behind a server of the Tinker protocol.',
  settings,
  async open(chosen, context) {
    const processor = await loadProcessor(await processorDirectory(chosen, context.hub));
    const { connection, close } = connectionOf(chosen, context);
    const client = await openTinkerClient(connection);
    try {
      const request = requestOf(chosen, client, context);
      expectNeeds(client, context);
      const measured = await measureLasting(client, {
        request: withoutExtras(request),
        processor,
        ...(context.onEvent && { onEvent: context.onEvent }),
      });
      judge(measured, chosen, context.onEvent);
      const learner = await openRemoteLearner({
        ...connection,
        request,
        processor,
        recoverySteps: chosen.recoverySteps,
        ...(measured.path && { path: measured.path }),
        ...(context.onEvent && { onEvent: context.onEvent }),
        onDispose: close,
      });
      return learner;
    } catch (error) {
      await close();
      throw error;
    } finally {
      client.dispose();
    }
  },
});

function requestOf(
  { baseModel, lora: adapter }: Settings,
  { capabilities }: TinkerClient,
  { seed, valueHead, needs }: ModelContext,
): ModelRequest {
  const base = baseModel ?? capabilities.models[0];
  if (base === undefined) {
    throw new ConfigError(
      'model.baseModel',
      'model.baseModel: the server does not say which bases it has. Name one.',
    );
  }
  return {
    baseModel: base,
    ...(adapter && {
      lora: {
        rank: adapter.rank,
        seed,
        ...(adapter.alpha !== undefined && { alpha: adapter.alpha }),
        ...(adapter.targets.length > 0 && { targets: adapter.targets }),
      },
    }),
    ...(valueHead && { valueHead }),
    ...(needs?.reference && adapter === undefined && { reference: true }),
  };
}

/** Measures a server; from the beginning if it is started anew meanwhile. */
async function measureLasting(client: TinkerClient, options: MeasureOptions): Promise<Measurement> {
  for (let losses = 0; ; losses++) {
    try {
      return await measureServer(client, options);
    } catch (error) {
      if (!(error instanceof TinkerError) || !error.isLoss || losses >= MOST_LOSSES) throw error;
      const message = `The learner was lost while it was measured (${error.message}) It is measured again.`;
      options.onEvent?.({ kind: 'warning', message });
      await client.connect();
    }
  }
}

/** A scratch model needs neither a value head nor a reference. */
function withoutExtras({ baseModel, lora: adapter }: ModelRequest): ModelRequest {
  return { baseModel, ...(adapter && { lora: adapter }) };
}

/** @throws TinkerError naming what the run needs and the server cannot */
function expectNeeds({ isOurs, transport }: TinkerClient, context: ModelContext): void {
  if (isOurs) return;
  const { needs, valueHead } = context;
  const tempered = needs?.temperatures.find((temperature) => temperature !== 1);
  const missing = [
    valueHead && 'values, which the algorithm trains',
    needs?.entropy && 'entropies, which the algorithm’s loss has a gradient of',
    tempered !== undefined && `log-probs at the temperature ${tempered}`,
  ].find((one) => typeof one === 'string');
  if (missing === undefined) return;
  throw new TinkerError(
    'user',
    `${transport.url} is plain Tinker, which knows no ${missing}. Use a server with the extension ` +
      'saccade/1 (saccade serve learner, or the worker of Saccade), or change the algorithm.',
    { code: 'unfit', field: 'algorithm' },
  );
}

/** @throws TinkerError if a strict run cannot use the server as it was measured */
function judge(measured: Measurement, chosen: Settings, onEvent: EventSink | undefined): void {
  const { verdict, ignoredFields } = measured;
  const lines = describeMeasurement(measured);
  const ignored = ignoredFields.filter((field) => !chosen.acceptIgnored.includes(field));
  const isFit = (verdict === 'linear' || verdict === 'linearized') && ignored.length === 0;
  if (isFit && verdict === 'linear') return;
  if (isFit || chosen.measure === 'report') {
    onEvent?.({ kind: 'warning', message: lines.join('\n') });
    return;
  }
  const remedy =
    ignored.length > 0 && verdict !== 'refused'
      ? `Accept that with model.acceptIgnored=${ignored.join(',')}, or use another server.`
      : 'Use another server; model.measure=report goes on all the same.';
  throw new TinkerError('user', `${lines.join('\n')}\n${remedy}`, {
    code: 'unfit',
    field: 'model.baseUrl',
  });
}

function connectionOf(
  { baseUrl, keyVariable, caFile, certFile, keyFile, deadlineSeconds, returnSeconds }: Settings,
  { secret }: ModelContext,
) {
  if (keyVariable !== undefined && secret === undefined) {
    throw new ConfigError('model.keyVariable', 'model.keyVariable: there are no secrets here.');
  }
  const read = (path: string | undefined, field: string): string | undefined => {
    if (path === undefined) return undefined;
    if (existsSync(path)) return readFileSync(path, 'utf8');
    throw new ConfigError(`model.${field}`, `model.${field}: there is no file ${resolve(path)}.`);
  };
  const [ca, cert, key] = [
    read(caFile, 'caFile'),
    read(certFile, 'certFile'),
    read(keyFile, 'keyFile'),
  ];
  // Node's own fetch gives up on calls that wait for long.
  const { fetch: send, dispose } = patientFetch(10, {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  });
  const token = keyVariable && secret?.('model.keyVariable', keyVariable);
  return {
    connection: {
      baseUrl,
      fetch: send,
      deadlineSeconds,
      returnSeconds,
      ...(token && { token }),
    },
    close: dispose,
  };
}

/** @throws ConfigError if there are no tokenizer files to be found */
async function processorDirectory(
  { from, baseModel }: Settings,
  hub: Hub | undefined,
): Promise<string> {
  const given = from ?? (baseModel?.startsWith('hf:') ? baseModel : undefined);
  if (given === undefined) {
    if (baseModel !== undefined && existsSync(baseModel)) return resolve(baseModel);
    if (baseModel === undefined || !baseModel.includes('/')) {
      throw new ConfigError(
        FIELD,
        `${FIELD}: the tokenizer of the base is not known here. Give its directory, or hf:owner/name.`,
      );
    }
  }
  const source = parseModelSource(given ?? `hf:${baseModel}`, FIELD);
  if (source.kind === 'directory') {
    const directory = resolve(source.directory);
    if (existsSync(directory)) return directory;
    throw new ConfigError(FIELD, `${FIELD}: there is no directory ${directory}.`);
  }
  if (hub === undefined) {
    throw new ConfigError(FIELD, `${FIELD}: there is no hub to take ${source.name} from.`);
  }
  return await fetchModel(hub, source, { weights: false });
}
