/**
 * Serves policies that clients of the Tinker protocol train: log-probs out, gradients of log-probs in.
 */
import { createHash } from 'node:crypto';
import { SaccadeError } from '@saccade/core';
import {
  bytesOf,
  callOf,
  type ListenOptions,
  newServiceApp,
  openService,
  parseBody,
  Refusal,
  type Service,
} from '@saccade/http/service';
import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import { INCARNATION } from '../client/transport.ts';
import { BINARY, decodeBody, encodeBody } from '../wire/bodies.ts';
import * as schemas from '../wire/schemas.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { LearnerHost, type LearnerHostOptions } from './learner-host.ts';
import { learnerWording, refusalOf } from './refusals.ts';
import type { ServedModel } from './served-model.ts';

/** What is served, and its limits. */
export interface LearnerServiceOptions extends LearnerHostOptions {
  /** Largest body, in bytes. Default 256 MiB. */
  readonly maxBytes?: number;
  /** The version in `/healthz`. Default `0.0.0`. */
  readonly version?: string;
}

/** A learner's service as an app, and what it holds. */
export interface LearnerService {
  readonly app: Hono;
  readonly host: LearnerHost;
}

const PREFIX = '/api/v1';
const EXTENSIONS = ['saccade/1', 'binary', 'sampling'];
/** Of a server that shows gradients. */
const GRADIENTS = 'gradients';
const HONORED = [
  ...['learning_rate', 'beta1', 'beta2', 'eps', 'weight_decay', 'grad_clip_norm'],
  ...['expected_version', 'optimizer'],
];
/** Longest poll, in seconds. */
const POLL_SECONDS = 30;

/** Opens the service and resolves once it listens. Policies that it opened end with it. */
export async function openLearnerService(
  options: LearnerServiceOptions & ListenOptions,
): Promise<Service> {
  const { app, host } = learnerService(options);
  return await openService({
    ...options,
    name: 'learner',
    app,
    wording: learnerWording,
    healthPath: `${PREFIX}/healthz`,
    tokenHeader: 'x-api-key',
    dispose: () => host.dispose(),
  });
}

/** Makes the service as an app. */
export function learnerService(options: LearnerServiceOptions): LearnerService {
  const { maxBytes = 256 * 2 ** 20, version = '0.0.0', models } = options;
  const host = new LearnerHost(options);
  const app = newServiceApp({
    routes: `those of Tinker below ${PREFIX}`,
    wording: learnerWording,
    asRefusal: refusalOf,
    bodies: { maxBytes, maxValues: 2 ** 24 },
  });
  app.use(async (context, next) => {
    context.header(INCARNATION, host.incarnation);
    const theirs = context.req.header(INCARNATION);
    if (theirs !== undefined && theirs !== host.incarnation) {
      throw new TinkerError('server', 'The server was started again; what it held is gone.', {
        code: 'foreign-incarnation',
        status: 409,
      });
    }
    await next();
  });
  const api = app.basePath(PREFIX);
  const post = <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    answer: (body: z.output<Schema>, request: Request) => Promise<object> | object,
  ): void => {
    api.post(path, async (context) => {
      const { body, request } = await read(context, schema);
      return answered(context, await answer(body, request));
    });
  };
  /** A call of a model in its order. */
  const call = <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    run: (model: ServedModel, body: z.output<Schema>, requestId: string) => Promise<object>,
    prepare?: Prepare<Schema>,
  ): void => {
    post(path, schema, async (body, { hash }) => {
      const { model_id, seq_id } = body as { model_id: string; seq_id?: number | null };
      const enlist = { path, modelId: model_id, seq: seq_id, hash: `${path} ${hash}` };
      const id = await host.enlist(
        enlist,
        (model, requestId) => run(model, body, requestId),
        prepare && ((model, queuedSteps) => prepare(model, body, queuedSteps)),
      );
      return { request_id: id };
    });
  };

  app.get('/health', (context) => context.body(null, callOf(context).isDraining() ? 503 : 200));
  api.get('/healthz', (context) =>
    answered(context, {
      status: callOf(context).isDraining() ? 'draining' : 'ok',
      incarnation: host.incarnation,
      world_size: 1,
      version,
    }),
  );
  api.get('/get_server_capabilities', (context) =>
    answered(context, {
      supported_models: models.names.map((name) => ({ model_name: name })),
      extensions: [...EXTENSIONS, ...(options.exposesGradients ? [GRADIENTS] : [])],
      optimizer: { honors: HONORED },
      architecture: models.architecture ?? null,
      vocab_size: models.vocabSize ?? null,
      has_values: models.hasValues ?? false,
      max_tokens: host.maxTokens,
    }),
  );
  post('/create_session', schemas.createSessionBody, () => ({
    type: 'create_session',
    session_id: host.createSession(),
  }));
  post('/session_heartbeat', schemas.heartbeatBody, ({ session_id }) => {
    host.heartbeat(session_id);
    return { type: 'session_heartbeat' };
  });
  post('/create_model', schemas.createModelBody, async (body, { hash }) => ({
    request_id: await host.createModel(body, hash),
  }));
  post('/get_info', schemas.modelBody, ({ model_id }) => host.model(model_id).info);
  post('/unload_model', schemas.modelBody, ({ model_id }) => ({
    request_id: host.unload(model_id),
  }));
  addCalls(call);
  post('/create_sampling_session', schemas.samplingSessionBody, async (body) => ({
    type: 'create_sampling_session',
    sampling_session_id: await host.createSampler(body),
  }));
  post('/asample', schemas.sampleBody, async (body) => ({ request_id: await host.sample(body) }));
  post('/release', schemas.releaseBody, ({ key }) => {
    host.samplers.release(key);
    return { type: 'release' };
  });
  api.put('/blobs/:sha256', async (context) => {
    const bytes = await bytesOf(context);
    const type = context.req.header('content-type')?.split(';')[0]?.trim() ?? '';
    host.blobs.put(context.req.param('sha256'), type, bytes);
    return answered(context, { type: 'blob', sha256: context.req.param('sha256') });
  });
  api.delete('/training_runs/:model/checkpoints/:kind/:name', async (context) => {
    const { model, kind, name } = context.req.param();
    const path = `tinker://${model}/${kind}/${name}`;
    await host.saved.delete(path);
    return answered(context, { type: 'delete_checkpoint', path });
  });
  post('/blobs/missing', schemas.missingBlobsBody, ({ sha256 }) => ({
    missing: host.blobs.missing(sha256),
  }));
  post('/retrieve_future', schemas.retrieveBody, async (body, { signal }) => {
    const { request_id: id, timeout_seconds: asked } = body;
    const seconds = Math.min(POLL_SECONDS, asked ?? POLL_SECONDS);
    const result = await host.futures.result(id, seconds, signal);
    return result ?? { type: 'try_again', request_id: id, queue_state: 'active' };
  });
  return { app, host };
}

type AddCall = <Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  run: (model: ServedModel, body: z.output<Schema>, requestId: string) => Promise<object>,
  prepare?: Prepare<Schema>,
) => void;

/** Checks a call before it has a place; steps that wait come before it. */
type Prepare<Schema extends z.ZodType> = (
  model: ServedModel,
  body: z.output<Schema>,
  queuedSteps: number,
) => Promise<void>;

/** The calls that have a place in a model's order. */
function addCalls(call: AddCall): void {
  call(
    '/forward',
    schemas.forwardBody,
    (model, body, requestId) => {
      const { forward_input: input } = body;
      return 'forest' in input
        ? model.forwardForest(input as schemas.ForestInput, body, requestId)
        : model.forwardData(input as schemas.DataInput);
    },
    async (model, { forward_input: input }) => {
      if ('forest' in input) await model.prepareForest(input as schemas.ForestInput);
      else await model.prepareData(input as schemas.DataInput);
    },
  );
  call(
    '/forward_backward',
    schemas.forwardBackwardBody,
    (model, { forward_backward_input: input }) => model.forwardBackwardData(input),
    (model, { forward_backward_input: input }) => model.prepareData(input),
  );
  call('/backward', schemas.backwardBody, (model, body) => model.backward(body));
  call(
    '/optim_step',
    schemas.optimStepBody,
    (model, body) => model.optimStep(body),
    async (model, { expected_version }, queuedSteps) =>
      model.expectVersion(expected_version, queuedSteps),
  );
  call('/reset_optimizer', schemas.modelCallBody, (model) => model.resetOptimizer());
  call('/save_weights', schemas.saveWeightsBody, (model, body) => model.saveWeights(body));
  call('/save_weights_for_sampler', schemas.saveForSamplerBody, (model, { path }) =>
    model.saveForSampler(path),
  );
  call('/load_weights', schemas.loadWeightsBody, (model, body) => model.loadWeights(body));
  call('/publish', schemas.publishBody, (model, body) => model.publish(body));
  call('/checksum', schemas.modelCallBody, (model) => model.checksum());
  call('/gradients', schemas.gradientsBody, (model, { names }) => model.gradients(names));
}

/** What a handler needs of a request beside its body. */
interface Request {
  /** SHA-256 of the bytes that came. */
  readonly hash: string;
  readonly signal: AbortSignal;
}

async function read<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<{ readonly body: z.output<Schema>; readonly request: Request }> {
  const bytes = await bytesOf(context);
  const hash = createHash('sha256').update(bytes).digest('hex');
  const type = context.req.header('content-type');
  let tree: unknown;
  try {
    tree = decodeBody('The body', type, bytes, (text) => parseBody(context, text));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const isOurs = error instanceof SaccadeError;
    throw isOurs ? new TinkerError('user', error.message, { status: 400 }) : error;
  }
  const parsed = schema.safeParse(tree);
  if (parsed.success) {
    return { body: parsed.data, request: { hash, signal: callOf(context).signal } };
  }
  const { field, message } = firstIssue(parsed.error.issues);
  throw new TinkerError('user', `${field === '' ? 'The body' : field}: ${message}.`, {
    status: 400,
    field,
  });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** The issue that says most: of a union, the one that goes deepest. */
function firstIssue(issues: readonly Issue[]): { field: string; message: string } {
  const [issue] = issues;
  if (issue === undefined) return { field: '', message: 'does not fit' };
  const inner = (issue.errors ?? []).flat().sort((a, b) => b.path.length - a.path.length)[0];
  const own = issue.path.map(String).join('.');
  if (inner === undefined || inner.path.length === 0) {
    return { field: own.slice(0, 200), message: issue.message.slice(0, 500) };
  }
  const nested = firstIssue([inner]);
  const field = [own, nested.field].filter((part) => part !== '').join('.');
  return { field: field.slice(0, 200), message: nested.message };
}

/** The answer in the form that the client takes. */
function answered(context: Context, tree: object): Response {
  const takesBinary = context.req.header('accept')?.includes(BINARY) ?? false;
  const { contentType, bytes } = encodeBody(tree, takesBinary ? 'binary' : 'json');
  return context.body(bytes, 200, { 'content-type': contentType });
}
