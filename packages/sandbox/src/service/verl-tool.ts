/** The protocol of verl-tool's servers: raw model text in, observations out, a session a trajectory. */
import { messageOf } from '@saccade/core';
import { badRequest, bodyOf } from '@saccade/http/service';
import { Hono } from 'hono';
import { z } from 'zod';
import { QueueFullError } from '../errors.ts';
import type { Outcome } from '../outcome.ts';
import { toBase64 } from '../outcome-json.ts';
import type { InputImage } from '../session.ts';
import { callerOf, type ServiceParts, signalOf } from './service-parts.ts';
import { SessionTable } from './session-table.ts';

const request = z.looseObject({
  trajectory_ids: z.array(z.union([z.string(), z.number()]).transform(String)).min(1),
  actions: z.array(z.string()),
  extra_fields: z.array(z.record(z.string(), z.unknown())).optional(),
});

type Observation = string | Readonly<Record<string, unknown>>;

interface Answer {
  readonly observation: Observation;
  readonly isDone: boolean;
  readonly isValid: boolean;
}

export interface VerlTool {
  readonly routes: Hono;
  readonly trajectories: SessionTable;
}

export function verlTool(parts: ServiceParts): VerlTool {
  const trajectories = new SessionTable(parts.sandbox, parts.idleSeconds);
  /** The latest call of each trajectory: its actions run one after another. */
  const last = new Map<string, Promise<unknown>>();
  const routes = new Hono();

  routes.post('/get_observation', async (context) => {
    const began = performance.now();
    const body = await bodyOf(context, request);
    const { trajectory_ids: ids, actions } = body;
    const extras = extraFieldsOf(body, ids.length);
    if (actions.length !== ids.length) {
      throw badRequest(`${ids.length} trajectory_ids and ${actions.length} actions are no pairs.`);
    }
    const signal = signalOf(context);
    const caller = callerOf(context);
    const answers = await Promise.all(
      ids.map((id, index) => {
        const act = (): Promise<Answer> =>
          takeAction(id, actions[index] ?? '', extras[index] ?? {}, { signal, caller });
        const before = last.get(id) ?? Promise.resolve();
        const turn = before.then(act, act);
        last.set(id, turn);
        return turn.finally(() => last.get(id) === turn && last.delete(id));
      }),
    );
    return context.json({
      observations: answers.map(({ observation }) => observation),
      dones: answers.map(({ isDone }) => isDone),
      valids: answers.map(({ isValid }) => isValid),
      processing_time_ms: performance.now() - began,
    });
  });

  const takeAction = async (
    id: string,
    action: string,
    extra: Readonly<Record<string, unknown>>,
    asked: { readonly signal: AbortSignal; readonly caller: string },
  ): Promise<Answer> => {
    if (extra.finish === true) {
      await trajectories.close(id);
      return { observation: '', isDone: true, isValid: true };
    }
    const code = codeIn(action);
    if (code === undefined) return { observation: '', isDone: false, isValid: false };
    let outcome: Outcome | undefined;
    try {
      if (!trajectories.has(id)) {
        await trajectories.open({ images: imagesOf(extra), ...asked }, id);
      }
      const { signal } = asked;
      outcome = await trajectories.use(id, (session) => session.execute(code, { signal }));
    } catch (error) {
      if (asked.signal.aborted || error instanceof QueueFullError) throw error;
      return lost(messageOf(error));
    }
    if (outcome === undefined) return lost('The session was closed meanwhile.');
    parts.onOutcome('verl-tool', outcome);
    // Its interpreter is gone; the next action finds a fresh one.
    if (!['ok', 'exception', 'forbidden'].includes(outcome.kind)) await trajectories.close(id);
    if (outcome.kind === 'infraError') return lost(outcome.error?.message ?? '');
    return { observation: observationOf(action, outcome), isDone: false, isValid: true };
  };

  return { routes, trajectories };
}

/** Our fault: verl-tool ends such a trajectory and tells why beside the observation. */
function lost(error: string): Answer {
  return { observation: { obs: '', error, invalid_reason: error }, isDone: true, isValid: false };
}

/** Fields may come by trajectory, or one list for each. */
function extraFieldsOf(
  { trajectory_ids: _, actions: __, extra_fields: own, ...lists }: z.output<typeof request>,
  count: number,
): readonly Readonly<Record<string, unknown>>[] {
  return Array.from({ length: count }, (_unused, index) => {
    const fields: Record<string, unknown> = { ...own?.[index] };
    for (const [name, list] of Object.entries(lists)) {
      if (!Array.isArray(list) || list.length !== count) {
        throw badRequest(
          `"${name}" must be a list with a value for each of ${count} trajectories.`,
        );
      }
      fields[name] = list[index];
    }
    return fields;
  });
}

/** All code of the text, as verl-tool's Python tool finds it; undefined where there is none. */
function codeIn(action: string): string | undefined {
  const tagged = allBetween(action, ['<python>'], '</python>');
  const found =
    tagged.length > 0 ? tagged : allBetween(action, ['```python', '```\npython'], '```');
  return found.length > 0 ? found.map((code) => code.trim()).join('\n') : undefined;
}

/** The texts between an opening mark and the next closing one, for all pairs, in one pass. */
function allBetween(text: string, opens: readonly string[], close: string): readonly string[] {
  const found: string[] = [];
  /** Where each opening mark comes next; an index behind `from` is looked up again. */
  const nexts = opens.map(() => -1);
  for (let from = 0; ; ) {
    let start = text.length;
    let mark = '';
    for (const [which, open] of opens.entries()) {
      if ((nexts[which] ?? 0) < from) nexts[which] = indexFrom(text, open, from);
      const at = nexts[which] ?? text.length;
      if (at < start) [start, mark] = [at, open];
    }
    const end = mark === '' ? -1 : text.indexOf(close, start + mark.length);
    if (end < 0) return found;
    found.push(text.slice(start + mark.length, end));
    from = end + close.length;
  }
}

function indexFrom(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

const dataUrl = /^data:image\/[\w.+-]+;base64,/;

/** Images come as data URLs and are called as the model's prompts call them. */
function imagesOf({ images }: Readonly<Record<string, unknown>>): readonly InputImage[] {
  const list = images === undefined || images === null ? [] : [images].flat();
  return list.map((image: unknown, index) => {
    if (typeof image !== 'string' || !dataUrl.test(image.slice(0, 100))) {
      throw badRequest('"images" must be data URLs: paths of this machine are not opened.');
    }
    const encoded = new Uint8Array(Buffer.from(image.slice(image.indexOf(',') + 1), 'base64'));
    return { name: `image_clue_${index}`, encoded };
  });
}

/** The output in the markup that the action used; each image has its mark in the text. */
function observationOf(action: string, outcome: Outcome): Observation {
  const { stdout, stderr, error, images } = outcome;
  const failure = error === undefined ? '' : error.traceback || `${error.type}: ${error.message}`;
  const said = [stdout, stderr, failure].filter((text) => text !== '').join('\n');
  const marks = '<image>'.repeat(images.length);
  const text = [stripped(said), marks].filter((part) => part !== '').join('\n');
  const obs = action.includes('```python')
    ? `\n\`\`\`result\n${text}\n\`\`\`\n`
    : `\n<result>\n${text}\n</result>\n`;
  if (images.length === 0) return obs;
  return { obs, image: images.map(({ png }) => `data:image/png;base64,${toBase64(png)}`) };
}

/** Without spaces and line ends around it. */
function stripped(text: string): string {
  let start = 0;
  let end = text.length;
  const isBlank = (at: number): boolean => text[at] === ' ' || text[at] === '\n';
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}
