/** Schemas of the requests of the wire, plain and extended. Unknown fields are left alone. */
import { z } from '@saccade/core/settings';
import { floatTensor, integerTensor } from './tensors.ts';

const name = z.string().min(1).max(256);
const whole = z.number().int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hex');
const seqId = whole.nullish();
const token = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const textChunk = z.looseObject({
  type: z.literal('encoded_text').optional(),
  tokens: z.array(token).max(2 ** 22),
});
const imageChunk = z.looseObject({
  type: z.literal('image').optional(),
  /** base64 */
  data: z.string(),
  format: z.enum(['png', 'jpeg']),
  expected_tokens: whole.nullish(),
});
const blobChunk = z.looseObject({
  type: z.literal('image_ref'),
  sha256,
  expected_tokens: whole.nullish(),
});
const pointerChunk = z
  .looseObject({ type: z.literal('image_asset_pointer') })
  .refine(() => false, 'image_asset_pointer is not served; send the image itself');

const chunks = z.array(z.union([imageChunk, blobChunk, textChunk, pointerChunk])).min(1);
export type Chunk = z.output<typeof chunks>[number];

const datum = z.looseObject({
  model_input: z.looseObject({ chunks }),
  loss_fn_inputs: z.looseObject({
    target_tokens: integerTensor,
    weights: floatTensor.optional(),
    logprobs: floatTensor.optional(),
    advantages: floatTensor.optional(),
  }),
});
export type Datum = z.output<typeof datum>;

const namedLosses = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'] as const;
export type NamedLoss = (typeof namedLosses)[number];

const dataInput = z.looseObject({
  data: z.array(datum).min(1).max(65_536),
  loss_fn: z.enum(namedLosses).default('cross_entropy'),
  loss_fn_config: z.record(z.string(), z.number()).nullish(),
});
export type DataInput = z.output<typeof dataInput>;

const forest = z.looseObject({
  segments: z
    .array(
      z.looseObject({
        length: whole,
        parent: z.number().int().min(-1),
        images: z.array(z.looseObject({ sha256, expected_tokens: whole.nullish() })).default([]),
      }),
    )
    .min(1)
    .max(65_536),
  tokens: integerTensor,
  rows: integerTensor,
  targets: integerTensor,
});
export type Forest = z.output<typeof forest>;

const forestInput = z.looseObject({ forest });

/** How a forest is scored. */
const scoring = z.looseObject({
  temperature: z.number().positive().default(1),
  weights: z.enum(['policy', 'reference']).default('policy'),
  sum_squared_probs: z.boolean().default(false),
  retain: z.boolean().default(false),
});
export type ForestInput = z.output<typeof forestInput>;
export type Scoring = z.output<typeof scoring>;

const call = { model_id: name, seq_id: seqId };

export const forwardBody = z.looseObject({
  ...call,
  ...scoring.shape,
  forward_input: z.union([forestInput, dataInput]),
});
export const forwardBackwardBody = z.looseObject({ ...call, forward_backward_input: dataInput });
export const backwardBody = z.looseObject({
  ...call,
  data_ref: z.string().min(1),
  grad_logprobs: floatTensor,
  grad_entropy: floatTensor.optional(),
  grad_values: floatTensor.optional(),
});

export const adamParams = z.looseObject({
  learning_rate: z.number().min(0).default(1e-4),
  beta1: z.number().min(0).max(0.999999).default(0.9),
  beta2: z.number().min(0).max(0.999999).default(0.95),
  eps: z.number().min(0).default(1e-12),
  weight_decay: z.number().min(0).default(0),
  grad_clip_norm: z.number().min(0).default(0),
});
export const optimStepBody = z.looseObject({
  ...call,
  adam_params: adamParams.optional(),
  expected_version: whole.nullish(),
  /** Another optimizer by its name and settings; its learning rate is that of `adam_params`. */
  optimizer: z.looseObject({ name }).nullish(),
});

const loraConfig = z.looseObject({
  rank: whole.max(4096).default(32),
  alpha: z.number().positive().nullish(),
  rs_lora: z.boolean().default(false),
  seed: whole.nullish(),
  train_mlp: z.boolean().default(true),
  train_attn: z.boolean().default(true),
  train_unembed: z.boolean().default(true),
  targets: z.array(z.string().min(1)).nullish(),
});
export type LoraConfig = z.output<typeof loraConfig>;

export const createSessionBody = z.looseObject({});
export const heartbeatBody = z.looseObject({ session_id: name });
export const createModelBody = z.looseObject({
  session_id: name,
  model_seq_id: whole.nullish(),
  base_model: z.string().min(1),
  lora_config: loraConfig.nullish(),
  /** Whether it predicts returns too. */
  value_head: z.boolean().default(false),
  /** Whether whole weights that train keep the first ones beside them. */
  reference: z.boolean().default(false),
});
export const modelBody = z.looseObject({ model_id: name });
export const modelCallBody = z.looseObject(call);
export const saveWeightsBody = z.looseObject({
  ...call,
  path: name.nullish(),
  optimizer: z.boolean().default(true),
  merged: z.boolean().default(false),
});
export const saveForSamplerBody = z.looseObject({
  ...call,
  path: name.nullish(),
  sampling_session_seq_id: whole.nullish(),
});
export const loadWeightsBody = z.looseObject({
  ...call,
  path: z.string().min(1).max(4096),
  optimizer: z.boolean().default(false),
});
export const samplingSessionBody = z.looseObject({
  session_id: name.nullish(),
  sampling_session_seq_id: whole.nullish(),
  base_model: z.string().min(1).nullish(),
  model_path: z.string().min(1).nullish(),
  /** Samples from a model's weights as they are at the time. */
  model_id: name.nullish(),
});

const samplingParams = z.looseObject({
  max_tokens: z.number().int().min(1).nullish(),
  seed: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string()), z.array(token)]).nullish(),
  temperature: z.number().min(0).default(1),
  top_k: z.number().int().min(-1).default(-1),
  top_p: z.number().positive().max(1).default(1),
});
export const sampleBody = z.looseObject({
  sampling_session_id: name.nullish(),
  base_model: z.string().min(1).nullish(),
  model_path: z.string().min(1).nullish(),
  seq_id: seqId,
  num_samples: z.number().int().min(1).max(1024).default(1),
  prompt: z.looseObject({ chunks }),
  sampling_params: samplingParams.default({ temperature: 1, top_k: -1, top_p: 1 }),
  prompt_logprobs: z.boolean().nullish(),
  /** Fields of our own samplers that Tinker has no words for. */
  saccade: z
    .looseObject({
      seed: z.tuple([whole, whole]).optional(),
      conversation: z.string().min(1).max(1024).optional(),
      shared_prefix: z.looseObject({ key: z.string().min(1), length: whole }).optional(),
      min_p: z.number().min(0).max(1).optional(),
      ignore_end_of_turn: z.boolean().optional(),
      /** Images of the placeholders that the prompt's text has already. */
      images: z.array(z.looseObject({ sha256, expected_tokens: whole.nullish() })).optional(),
    })
    .nullish(),
});

const publishKinds = ['lora', 'disk', 'nccl', 'sglang-disk'] as const;
export const publishBody = z.looseObject({
  ...call,
  target: z.looseObject({
    kind: z.enum(publishKinds),
    urls: z.array(z.url()).min(1),
    directory: z.string().min(1).nullish(),
  }),
  version: whole.nullish(),
});
export const gradientsBody = z.looseObject({
  ...call,
  names: z.array(z.string()).nullish(),
});
export const releaseBody = z.looseObject({ key: z.string().min(1).max(1024) });
export const missingBlobsBody = z.looseObject({ sha256: z.array(sha256).max(65_536) });
export const retrieveBody = z.looseObject({
  request_id: name,
  timeout_seconds: z.number().min(0).nullish(),
});

/** The text of a prepared image: fields of `ModelImage` beside its patches. */
export const preparedImage = z.looseObject({
  gridHeight: whole,
  gridWidth: whole,
  tokenCount: whole,
  width: whole,
  height: whole,
  grids: whole.optional(),
  tiles: z.looseObject({ rows: whole, columns: whole }).optional(),
  video: z
    .looseObject({
      timestamps: z.array(z.number()),
      durationSeconds: z.number().optional(),
      secondsPerGrid: z.number().optional(),
    })
    .optional(),
});
