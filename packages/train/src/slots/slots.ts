/** The slots of a run, each with the registry of its units. */
import { type Algorithm, algorithms } from '@saccade/algorithms';
import type { SettingsSchema } from '@saccade/core/settings';
import { type ColdStart, coldStarts, type KnownColdStart } from '@saccade/data';
import type { KnownDatasetTaskSet } from '@saccade/datasets';
import {
  type KnownProtocol,
  type KnownTaskSet,
  type ProtocolUnit,
  protocols,
  type TaskSetUnit,
} from '@saccade/gym';
import type { BackendUnit } from '@saccade/ops/unit';
import { type OptimizerUnit, optimizers, type ScheduleUnit, schedules } from '@saccade/optim';
import type { ModelUnit } from '@saccade/policy/models';
import { type EngineUnit, engines, type KnownEngine } from '@saccade/policy/remote';
import {
  presetNamed,
  presets,
  type RewardPreset,
  type VerifierUnit,
  verifiers,
} from '@saccade/rewards';
import { type JudgingUnit, judgings, type KnownJudging } from '@saccade/rewards/judging';
import { type KnownSandbox, type SandboxUnit, sandboxes } from '@saccade/sandbox';
import { type KnownScheduler, type SchedulerKind, schedulers } from '@saccade/schedulers';
import { type ToolChoice, toolSettings } from '@saccade/tools';
import { type KnownTracker, type TrackerUnit, trackers } from '@saccade/trackers';
import type { KnownVisionTaskSet } from '@saccade/vision-tasks';
import { z } from 'zod';
import { backends, type KnownBackend } from '../open-backend.ts';
import { toolChoices } from '../tool-choices.ts';
import type { ListSlot } from './list-slot.ts';
import { allModels, type KnownModel } from './models.ts';
import type { Slot, SlotInput } from './slot.ts';
import { taskSets } from './task-sets.ts';

const slot = <Some>(given: Slot<Some>): Slot<Some> => given;
const listSlot = <Some>(given: Slot<Some>): ListSlot<Some> => ({ ...given, isList: true });

/**
 * Every slot of a run by its key, with its registry and default unit. The keys are those of a
 * recipe's `config` and of `--set`.
 */
export const slots = {
  backend: slot<BackendUnit>({
    key: 'backend',
    about: 'What runs the kernels.',
    registry: backends,
    preset: 'native',
  }),
  model: slot<ModelUnit>({
    key: 'model',
    about: 'The model that is trained.',
    registry: allModels,
    preset: 'nano',
  }),
  taskSet: slot<TaskSetUnit>({
    key: 'taskSet',
    about: 'Where tasks come from.',
    registry: taskSets,
    preset: 'needle',
  }),
  protocol: slot<ProtocolUnit>({
    key: 'protocol',
    about: 'How the model talks to its tools, and how much of them it may use.',
    registry: protocols,
    preset: 'pyvision-image',
  }),
  tools: listSlot<ToolChoice>({
    key: 'tools',
    about: 'What the model may call, where the protocol takes tools; unset: the protocol’s own.',
    registry: toolChoices,
    schema: toolSettings,
  }),
  sandbox: slot<SandboxUnit>({
    key: 'sandbox',
    about: 'Where code runs.',
    registry: sandboxes,
    preset: 'local',
  }),
  coldStart: slot<ColdStart>({
    key: 'coldStart',
    about: 'The examples that training begins with.',
    registry: coldStarts,
    preset: 'needle',
  }),
  scheduler: slot<SchedulerKind>({
    key: 'scheduler',
    about: 'Which tasks are rolled out, and which trajectories are trained on.',
    registry: schedulers,
    preset: 'oversample-filter-rank',
  }),
  reward: slot<RewardPreset>({
    key: 'reward',
    about: 'What a trajectory is paid for, term by term.',
    registry: presets,
    find: presetNamed,
    preset: 'pyvision',
  }),
  verifier: slot<VerifierUnit>({
    key: 'verifier',
    about: 'Decides whether an answer is right.',
    registry: verifiers,
    preset: 'exact',
  }),
  judge: slot<JudgingUnit>({
    key: 'judge',
    about: 'A model that grades what no rule can.',
    registry: judgings,
    implied: 'openai',
  }),
  algorithm: slot<Algorithm>({
    key: 'algorithm',
    about: 'How rewards become advantages and a loss.',
    registry: algorithms,
    preset: 'pyvision-rl',
    narrow: (unit, { profile }) => (typeof profile === 'string' ? unit.profile(profile) : unit),
    schema: algorithmSchema,
  }),
  optimizer: slot<OptimizerUnit>({
    key: 'optimizer',
    about: 'The optimizer of reinforcement learning.',
    registry: optimizers,
    preset: 'adamw',
  }),
  schedule: slot<ScheduleUnit>({
    key: 'schedule',
    about: 'The learning rate over the updates of reinforcement learning.',
    registry: schedules,
    preset: 'cosine',
  }),
  sftOptimizer: slot<OptimizerUnit>({
    key: 'sftOptimizer',
    about: 'The optimizer of the cold start.',
    registry: optimizers,
    preset: 'adamw',
  }),
  sftSchedule: slot<ScheduleUnit>({
    key: 'sftSchedule',
    about: 'The learning rate over the updates of the cold start.',
    registry: schedules,
    preset: 'cosine',
  }),
  engine: slot<EngineUnit>({
    key: 'engine',
    about: 'A server that samples rollouts; without one the policy does.',
    registry: engines,
    implied: 'http',
  }),
  trackers: listSlot<TrackerUnit>({
    key: 'trackers',
    about: 'Where metrics go beside metrics.jsonl of the run.',
    registry: trackers,
  }),
} as const;

export type SlotKey = keyof typeof slots;

/** The values that each slot of a recipe accepts; null empties it. */
export interface SlotInputs {
  readonly backend?: SlotInput<KnownBackend, BackendUnit>;
  readonly model?: SlotInput<KnownModel, ModelUnit>;
  readonly taskSet?: SlotInput<
    KnownTaskSet | KnownDatasetTaskSet | KnownVisionTaskSet,
    TaskSetUnit
  >;
  readonly protocol?: SlotInput<KnownProtocol, ProtocolUnit>;
  readonly tools?: string | readonly (string | Selection | ToolChoice)[] | null;
  readonly sandbox?: SlotInput<KnownSandbox, SandboxUnit>;
  readonly coldStart?: SlotInput<KnownColdStart, ColdStart> | null;
  readonly scheduler?: SlotInput<KnownScheduler, SchedulerKind>;
  readonly reward?: string | Selection | RewardPreset;
  readonly verifier?: string | Selection | VerifierUnit;
  readonly judge?: SlotInput<KnownJudging, JudgingUnit> | null;
  readonly algorithm?: string | Selection | Algorithm;
  readonly optimizer?: string | Selection | OptimizerUnit;
  readonly schedule?: string | Selection | ScheduleUnit;
  readonly sftOptimizer?: string | Selection | OptimizerUnit;
  readonly sftSchedule?: string | Selection | ScheduleUnit;
  readonly engine?: SlotInput<KnownEngine, EngineUnit> | null;
  readonly trackers?:
    | string
    | SlotInput<KnownTracker, TrackerUnit>
    | readonly SlotInput<KnownTracker, TrackerUnit>[]
    | null;
}

/** A unit by name, or itself, with settings that its own schema checks. */
interface Selection {
  readonly name?: unknown;
  readonly [setting: string]: unknown;
}

/** An algorithm's own settings, and the profile they start from. */
function algorithmSchema({ profiles, schema }: Algorithm): SettingsSchema {
  const [first, ...rest] = profiles;
  if (first === undefined) return schema;
  const profile = z
    .enum([first, ...rest])
    .optional()
    .meta({
      unit: 'name',
      description: 'Whose epsilons and clamps the settings start from; unset: the algorithm’s own.',
    });
  return z.strictObject({ profile, ...schema.shape });
}
