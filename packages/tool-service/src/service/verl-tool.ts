/** The protocol of verl-tool's servers: what models wrote in, what the tools say to it out. */
import { messageOf, SaccadeError } from '@saccade/core';
import { bodyOf, callOf } from '@saccade/http/service';
import { type Outcome, outcomeToJson } from '@saccade/sandbox';
import { refused, type ToolImage } from '@saccade/tools';
import { Hono } from 'hono';
import { LRUCache } from 'lru-cache';
import type { ToolCalls } from '../calls/tool-calls.ts';
import { CallFault } from '../faults.ts';
import { readCall } from './read-call.ts';
import { imagesIn, type VerlImagesOptions } from './verl-images.ts';
import { type AskedAction, askedActions, observationRequestSchema } from './verl-wire.ts';

export interface VerlToolOptions extends VerlImagesOptions {
  readonly calls: ToolCalls;
  /** Trajectories unused for longer are forgotten. */
  readonly idleSeconds: number;
  /** Limit for the images of all trajectories together; the oldest are forgotten first. */
  readonly maxImageBytes: number;
  /** Told of errors that nothing explains. */
  readonly onFault: (error: unknown) => void;
}

interface Answer {
  readonly observation: string | Readonly<Record<string, unknown>>;
  readonly isDone: boolean;
  readonly isValid: boolean;
}

/** `POST /get_observation`. */
export function verlTool(options: VerlToolOptions): Hono {
  const { calls } = options;
  /** Images of each trajectory: those it came with, and those that tools made. */
  const trajectories = new LRUCache<string, readonly ToolImage[]>({
    ttl: options.idleSeconds * 1000,
    maxSize: options.maxImageBytes,
    sizeCalculation: (images) => 1 + images.reduce((sum, { png }) => sum + png.byteLength, 0),
  });
  /** The previous call of each trajectory: its actions run one after another. */
  const last = new Map<string, Promise<unknown>>();
  const routes = new Hono();

  routes.post('/get_observation', async (context) => {
    const began = performance.now();
    const asked = askedActions(await bodyOf(context, observationRequestSchema));
    const { signal } = callOf(context);
    const answers = await Promise.all(
      asked.map((one) => {
        const act = (): Promise<Answer> => takeAction(one, signal);
        const turn = (last.get(one.id) ?? Promise.resolve()).then(act, act);
        last.set(one.id, turn);
        return turn.finally(() => last.get(one.id) === turn && last.delete(one.id));
      }),
    );
    signal.throwIfAborted();
    const ms = performance.now() - began;
    context.header('x-process-time', String(ms / 1000));
    return context.json({
      observations: answers.map(({ observation }) => observation),
      dones: answers.map(({ isDone }) => isDone),
      valids: answers.map(({ isValid }) => isValid),
      processing_time_ms: ms,
    });
  });

  async function takeAction(asked: AskedAction, signal: AbortSignal): Promise<Answer> {
    const { id, action, isFinished, fields } = asked;
    if (isFinished) {
      trajectories.delete(id);
      return { observation: '', isDone: true, isValid: true };
    }
    const call = readCall(action);
    if (call === undefined) return noTool();
    if ('problem' in call)
      return said(refused('BadArgument', call.problem), { kind: 'InvalidCall' });
    const tool = calls.find(call.tool);
    if (tool === undefined) {
      const known = calls.tools.map(({ name }) => name).join(', ');
      return said(refused('UnknownTool', `There is no such tool. Known: ${known}.`));
    }
    // Every call may say what it is for; tools of their own kind need not know.
    const { task, ...others } = call.given;
    const { properties = {} } = tool.parameters;
    const given = Object.hasOwn(properties as object, 'task') ? call.given : others;
    try {
      const images = (await imagesIn(fields, options)) ?? trajectories.get(id) ?? [];
      const { outcome } = await calls.call(call.tool, { given, images, signal });
      const made = outcome.images.map(({ png, width, height, origin }, index) => {
        const name = `image_${images.length + index}`;
        return { name, png, width, height, ...(origin && { origin }) };
      });
      trajectories.set(id, [...images, ...made]);
      return said(outcome, { names: made.map(({ name }) => name) });
    } catch (error) {
      if (signal.aborted && !(error instanceof CallFault)) throw error;
      if (!(error instanceof SaccadeError)) options.onFault(error);
      return lost(messageOf(error));
    }
  }

  function noTool(): Answer {
    const invalid_reason = 'No valid tool found for action';
    const available_tools = calls.tools.map(({ name }) => name);
    const observation = { obs: '', invalid_reason, available_tools };
    return { observation, isDone: false, isValid: false };
  }

  return routes;
}

/** Our fault: verl-tool ends such a trajectory and tells why beside the observation. */
function lost(error: string): Answer {
  return { observation: { obs: '', error, invalid_reason: error }, isDone: true, isValid: false };
}

/** How an outcome is told. */
interface Telling {
  /** In place of the error's type. */
  readonly kind?: string;
  /** The names of its images from now on. */
  readonly names?: readonly string[];
}

/** A tool's answer: its text in a fence, and its images, each with its mark in the text. */
function said(outcome: Outcome, { kind, names = [] }: Telling = {}): Answer {
  const { stdout, error, images } = outcome;
  const problem =
    outcome.kind === 'ok'
      ? undefined
      : `${kind ?? error?.type ?? outcome.kind}: ${error?.message ?? ''}`;
  const failure = problem === undefined ? '' : `Tool Call Error: ${problem}`;
  const shown = names.length === 0 ? '' : `Image: ${names.join(', ')}`;
  const printed = [stdout.trim(), failure, shown].filter((text) => text !== '').join('\n');
  // A fence in what a tool prints would end its own.
  const text = printed.replaceAll('```', "'''");
  const marks = '<image>'.repeat(images.length);
  const obs = `\n\`\`\`output\n${text}\n\`\`\`\n${marks}`;
  const isValid = problem === undefined;
  if (isValid && images.length === 0) return { observation: obs, isDone: false, isValid };
  const { images: encoded } = outcomeToJson({ ...outcome, images }) as {
    readonly images: readonly { readonly png: string }[];
  };
  const observation = {
    obs,
    ...(images.length > 0 && { image: encoded.map(({ png }) => `data:image/png;base64,${png}`) }),
    ...(problem !== undefined && { invalid_reason: problem }),
  };
  return { observation, isDone: false, isValid };
}
