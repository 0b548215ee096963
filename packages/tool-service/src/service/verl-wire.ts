/** Bodies of verl-tool's `POST /get_observation`: parallel lists, one element for each trajectory. */
import { badRequest } from '@saccade/http/service';
import { z } from 'zod';

const fields = z.record(z.string(), z.unknown());

/** Other lists are fields by trajectory, too: `images: [[…], […]]`. */
export const observationRequestSchema = z.looseObject({
  trajectory_ids: z
    .array(z.union([z.string().max(500), z.number()]).transform(String))
    .min(1)
    .max(4096),
  actions: z.array(z.string()),
  extra_fields: z.array(fields.nullable()).optional(),
  finish: z.array(z.boolean()).nullish(),
  is_last_step: z.array(z.boolean()).nullish(),
});

export const observationAnswerSchema = z.object({
  observations: z.array(z.union([z.string(), fields])),
  dones: z.array(z.boolean()),
  valids: z.array(z.boolean()),
  processing_time_ms: z.number(),
});

/** The request of one trajectory. */
export interface AskedAction {
  readonly id: string;
  readonly action: string;
  readonly isFinished: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One element for each trajectory. @throws Refusal where the lists have different lengths */
export function askedActions(
  body: z.output<typeof observationRequestSchema>,
): readonly AskedAction[] {
  const { trajectory_ids: ids, actions, extra_fields: own, finish, is_last_step, ...lists } = body;
  const all: Readonly<Record<string, unknown>> = {
    ...{ actions, extra_fields: own, finish, is_last_step },
    ...lists,
  };
  for (const [name, list] of Object.entries(all)) {
    if (list === undefined || list === null) continue;
    if (Array.isArray(list) && list.length === ids.length) continue;
    const has = Array.isArray(list) ? `${list.length} elements` : 'no list';
    const key = JSON.stringify(name.slice(0, 100));
    throw badRequest(`${key} has ${has} for ${ids.length} trajectory_ids.`);
  }
  return ids.map((id, index) => {
    const given: Record<string, unknown> = { ...own?.[index] };
    for (const [name, list] of Object.entries(lists)) {
      if (Array.isArray(list)) given[name] = list[index];
    }
    const isFinished = finish?.[index] === true || given.finish === true;
    return { id, action: actions[index] ?? '', isFinished, fields: given };
  });
}
