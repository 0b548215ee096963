/** The content of `/openapi.json`: OpenEnv's validator looks there for the mode of a server. */

export interface OpenApiParts {
  readonly name: string;
  readonly description: string;
  readonly schemas: Readonly<Record<'action' | 'observation' | 'state', object>>;
}

const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
const text = { type: 'string' };
const session = {
  ...{ name: 'x-session-id', in: 'header', required: false, schema: text },
  description: 'The session, where the body does not name it.',
};

/** An OpenAPI 3.1 document. */
export function openApi({ name, description, schemas }: OpenApiParts): object {
  const answer = {
    type: 'object',
    properties: {
      observation: schemas.observation,
      reward: { type: ['number', 'null'] },
      done: { type: 'boolean' },
    },
    required: ['observation', 'reward', 'done'],
  };
  const refusal = {
    description: 'Refused: `error` has code, fact and remedy.',
    ...json({ type: 'object' }),
  };
  const ok = (what: string, schema: object): object => ({
    200: { description: what, ...json(schema) },
    default: refusal,
  });
  const post = (summary: string, body: object, what: string, schema: object, isBare = false) => ({
    post: {
      summary,
      ...(!isBare && { parameters: [session] }),
      requestBody: { required: true, ...json(body) },
      responses: ok(what, schema),
    },
  });
  const get = (summary: string, schema: object, parameters: readonly object[] = []) => ({
    get: { summary, parameters, responses: ok(summary, schema) },
  });
  const object = { type: 'object' };
  return {
    openapi: '3.1.0',
    info: { title: `Environment ${name}`, version: '1.0.0', description },
    paths: {
      '/reset': post(
        'Begin an episode, in a new session unless one is named',
        {
          type: 'object',
          properties: {
            seed: { type: 'integer', minimum: 0 },
            ...{ episode_id: text, session_id: text, split: { enum: ['train', 'heldOut'] } },
          },
        },
        'The first observation',
        answer,
      ),
      '/step': post(
        'Take what the model wrote in one turn',
        {
          type: 'object',
          properties: { action: schemas.action, session_id: text, timeout_s: { type: 'number' } },
          required: ['action'],
        },
        'What came of it',
        answer,
      ),
      '/state': get('Where a session stands', schemas.state, [
        session,
        { name: 'session_id', in: 'query', required: false, schema: text },
      ]),
      '/close': post('End a session', object, 'It is closed', object),
      '/schema': get('JSON Schemas of action, observation and state', object),
      '/metadata': get('What environment this is', object),
      '/health': get('Whether it takes calls', object),
      '/mcp': post('Tools by MCP: none', object, 'A JSON-RPC error', object, true),
    },
  };
}
