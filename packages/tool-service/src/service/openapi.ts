/** The OpenAPI 3.1 document of a tool service, from the schemas that check its bodies. */
import { z } from 'zod';
import {
  batchAnswerSchema,
  batchRequestSchema,
  callAnswerSchema,
  callRequestSchema,
  type DescribedTool,
  refusalSchema,
  toolListSchema,
} from '../wire.ts';
import { observationAnswerSchema, observationRequestSchema } from './verl-wire.ts';

type Json = Readonly<Record<string, unknown>>;

/** JSON Schema of what comes in or goes out; OpenAPI 3.1 speaks the dialect that zod writes. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const answered = (description: string, schema: Json): Json => ({
  description,
  content: json(schema),
});
const asked = (schema: Json): Json => ({ required: true, content: json(schema) });
const refused = (description: string): Json => ({
  description,
  content: json({ $ref: '#/components/schemas/Refusal' }),
});

const refusals: Json = {
  '400': refused('The body or an image does not fit.'),
  '404': refused('There is no such tool.'),
  '409': refused('The tool has another version here.'),
  '413': refused('The body has too many bytes, or an image too many pixels.'),
  '422': refused('The idempotency key was sent before with another body.'),
  '429': refused('Too many calls wait; come again after Retry-After. Nothing was started.'),
  '500': refused('The tool failed, crashed twice, or gave no outcome.'),
  '503': refused('The service or the process of the tool is not up.'),
  '504': refused('The call was not done before its deadline.'),
};

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Requests with one key and one body run once; the answer is given again.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
};

const callRequest = schemaOf(callRequestSchema, 'input');

/** A request whose arguments are those of one tool, where its schema stands for itself. */
function requestFor({ parameters }: DescribedTool): Json {
  if (JSON.stringify(parameters).includes('"$ref"')) return callRequest;
  const { properties } = callRequest as { readonly properties: Json };
  return { ...callRequest, properties: { ...properties, arguments: parameters } };
}

/**
 * @param tools each has a path of its own, so that generated clients know its arguments
 * @param version of the service
 */
export function openApiDocument(tools: readonly DescribedTool[], version: string): Json {
  const call = (operationId: string, summary: string, request: Json): Json => ({
    post: {
      ...{ operationId, summary, parameters: [idempotencyKey], requestBody: asked(request) },
      responses: {
        '200': answered('The outcome: also what is wrong with the arguments is one.', {
          $ref: '#/components/schemas/CallAnswer',
        }),
        ...refusals,
      },
    },
  });
  const own = tools.map((tool) => [
    `/v1/tools/${tool.name}`,
    call(`call_${tool.name}`, tool.description, requestFor(tool)),
  ]);
  return {
    openapi: '3.1.0',
    info: { title: 'Saccade tool service', version, license: { name: 'MIT', identifier: 'MIT' } },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    paths: {
      '/v1/tools': {
        get: {
          operationId: 'listTools',
          summary: 'The tools, with the schemas of their arguments.',
          responses: {
            '200': answered('All tools.', { $ref: '#/components/schemas/ToolList' }),
          },
        },
      },
      ...Object.fromEntries(own),
      '/v1/batch': {
        post: {
          operationId: 'callBatch',
          summary: 'Several calls; each is answered as it would be alone.',
          parameters: [idempotencyKey],
          requestBody: asked(schemaOf(batchRequestSchema, 'input')),
          responses: {
            '200': answered('An answer for each call, in their order.', {
              ...schemaOf(batchAnswerSchema, 'output'),
            }),
            '400': refusals['400'],
            '413': refusals['413'],
          },
        },
      },
      '/get_observation': {
        post: {
          operationId: 'getObservation',
          summary: 'verl-tool: what models wrote, in parallel lists; what the tools say to it.',
          requestBody: asked(schemaOf(observationRequestSchema, 'input')),
          responses: {
            '200': answered('As many observations.', schemaOf(observationAnswerSchema, 'output')),
            '400': refusals['400'],
            '413': refusals['413'],
          },
        },
      },
      ...statusPaths,
    },
    components: {
      schemas: {
        ToolList: schemaOf(toolListSchema, 'output'),
        CallAnswer: schemaOf(callAnswerSchema, 'output'),
        Refusal: schemaOf(refusalSchema, 'output'),
      },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{}, { token: [] }],
  };
}

const object: Json = { type: 'object' };

const statusPaths: Json = {
  '/health': {
    get: {
      operationId: 'health',
      summary: 'Whether the service is up; needs no token.',
      responses: { '200': answered('Up.', object), '503': answered('About to stop.', object) },
    },
  },
  '/ready': {
    get: {
      operationId: 'ready',
      summary: 'Whether every tool has been called once and answered.',
      responses: { '200': answered('Ready.', object), '503': refused('Not yet.') },
    },
  },
  '/metrics': {
    get: {
      operationId: 'metrics',
      summary: 'Metrics for Prometheus.',
      responses: {
        '200': { description: 'Text.', content: { 'text/plain': { schema: { type: 'string' } } } },
      },
    },
  },
  '/metrics.json': {
    get: {
      operationId: 'metricsJson',
      summary: 'verl-tool: what its servers say at /metrics.',
      responses: { '200': answered('Counts.', object) },
    },
  },
};
