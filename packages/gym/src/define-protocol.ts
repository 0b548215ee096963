/** Makes a unit of a protocol: published limits become settings, with the protocol's own beside them. */
import {
  count,
  optionalCount,
  quantity,
  readSettings,
  type SettingsInput,
  type SettingsOf,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';
import type { Tool } from '@saccade/tools';
import { z } from 'zod';
import type { Protocol } from './protocol.ts';

/** Seconds that one execution may take where a protocol's paper names no limit. */
export const DEFAULT_EXECUTION_SECONDS = 10;

/** A protocol at its published settings, and the same with others. */
export interface ProtocolUnit<Schema extends SettingsSchema = SettingsSchema>
  extends Protocol,
    Unit<Schema> {
  readonly name: string;
  /** Whether `with` takes tools: its model calls tools of the run instead of fixed ones. */
  readonly takesTools: boolean;
  /**
   * @param tools what the model may call; default: the protocol's own
   * @throws ConfigError naming the setting, what came and what was expected
   */
  with(settings?: SettingsInput<Schema>, tools?: readonly Tool[]): Protocol;
}

/** The definition of a protocol in its file. */
export interface ProtocolDefinition<Name extends string, Shape extends z.core.$ZodLooseShape> {
  readonly name: Name;
  readonly description: string;
  /** Settings beside the limits that every protocol has. */
  readonly settings?: Shape;
  /** True where `create` uses the tools it is given. Default false. */
  readonly takesTools?: boolean;
  create(settings: z.output<z.ZodObject<Shape>>, tools?: readonly Tool[]): Protocol;
}

/** The settings for the limits of every protocol; the defaults are its published values. */
function limits({ budgets, executionSeconds = DEFAULT_EXECUTION_SECONDS }: Protocol) {
  return {
    toolTurns: count({
      min: 0,
      max: 1000,
      default: budgets.toolTurns,
      unit: 'turns',
      about: 'Executions or tool calls in a trajectory; the answer comes on top.',
    }),
    images: optionalCount({
      min: 1,
      max: 100_000,
      unit: 'images',
      about: 'Images in a context, those of the prompt included; unset: as published.',
    }),
    evaluationToolTurns: optionalCount({
      min: 0,
      max: 1000,
      unit: 'turns',
      about: 'The same in evaluations; unset: as published for evaluation, else as in training.',
    }),
    evaluationImages: optionalCount({
      min: 1,
      max: 100_000,
      unit: 'images',
      about: 'Images in a context in evaluations; unset: as published, else as in training.',
    }),
    executionSeconds: quantity({
      min: 0.1,
      max: 3600,
      default: executionSeconds,
      unit: 'seconds',
      about: 'Wall time of one execution; the sandbox kills what runs longer.',
    }),
  };
}

/** A protocol with its published values, and `with` for others. */
export function defineProtocol<
  const Name extends string,
  Shape extends z.core.$ZodLooseShape = Record<never, never>,
>(definition: ProtocolDefinition<Name, Shape>) {
  const { name, description, takesTools = false } = definition;
  const own = z.object((definition.settings ?? {}) as Shape);
  const published = definition.create(own.parse({}, { jitless: true }) as SettingsOf<typeof own>);
  const settings = z.strictObject({ ...own.shape, ...limits(published) });
  const unit = { ...published, name, description, settings, takesTools };
  return {
    ...unit,
    with(
      given: z.input<typeof settings> = {} as z.input<typeof settings>,
      tools?: readonly Tool[],
    ) {
      const values = readSettings('protocol', settings, given);
      const base = definition.create(own.parse(values) as SettingsOf<typeof own>, tools);
      const { toolTurns, images, evaluationToolTurns, evaluationImages, executionSeconds } =
        values as z.output<z.ZodObject<ReturnType<typeof limits>>>;
      const budgets = { toolTurns, images: images ?? base.budgets.images };
      const { evaluationBudgets = budgets } = base;
      return {
        ...base,
        name,
        executionSeconds,
        budgets,
        evaluationBudgets: {
          toolTurns: evaluationToolTurns ?? evaluationBudgets.toolTurns,
          images: evaluationImages ?? evaluationBudgets.images,
        },
      };
    },
  };
}
