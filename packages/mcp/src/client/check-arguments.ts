/** Checks a model's arguments against a server's JSON Schema, in the words of our own tools. */
import type { GivenArguments, JsonSchema, RefusalType } from '@saccade/tools';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

const addFormats = ajvFormats.default;

interface ArgumentProblem {
  readonly type: RefusalType;
  readonly message: string;
}

/** The first thing that is wrong with arguments, or nothing. */
export type ArgumentCheck = (given: GivenArguments) => ArgumentProblem | undefined;

const LARGEST_SCHEMA = 256 * 1024;
const DEEPEST_SCHEMA = 48;

/** With any of these, `additionalProperties` beside them would refuse what they allow. */
const applicators = ['allOf', 'anyOf', 'oneOf', '$ref', 'if', 'patternProperties', '$dynamicRef'];

/**
 * The schema as a tool shows it: an object whose properties are all named. A server that leaves
 * open whether there are others is taken to have none, so that a wrong name is told, not passed
 * over.
 */
export function closedSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...rest } = schema;
  const isOpen = rest.additionalProperties !== undefined || applicators.some((key) => key in rest);
  return {
    properties: {},
    ...rest,
    type: 'object',
    ...(!isOpen && { additionalProperties: false }),
  };
}

/** @throws Error saying why the schema cannot be used */
export function compileCheck(schema: JsonSchema): ArgumentCheck {
  if (JSON.stringify(schema).length > LARGEST_SCHEMA || depthOf(schema) > DEEPEST_SCHEMA) {
    throw new Error('it is too large');
  }
  const validate = compile(schema);
  return (given) => {
    if (validate(given)) return undefined;
    const problems = (validate.errors ?? []).map(problemOf);
    const order: readonly RefusalType[] = ['UnknownArgument', 'MissingArgument', 'BadArgument'];
    const [worst] = problems.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
    return worst ?? { type: 'BadArgument', message: 'The arguments do not fit.' };
  };
}

function compile(schema: JsonSchema): ValidateFunction {
  const options: Options = { strict: false, allErrors: true, logger: false, addUsedSchema: false };
  const dialect = typeof schema.$schema === 'string' ? schema.$schema : '';
  // 2020-12 is what the protocol means where a schema names no dialect.
  const validator = dialect.includes('draft-0')
    ? new Ajv(options)
    : dialect.includes('2019-09')
      ? new Ajv2019(options)
      : new Ajv2020(options);
  addFormats(validator);
  const { $schema: _, $id: __, ...rest } = schema;
  return validator.compile(rest);
}

function problemOf({ instancePath, keyword, params, message = '' }: ErrorObject): ArgumentProblem {
  if (instancePath === '' && keyword === 'additionalProperties') {
    const name = short(String(params.additionalProperty));
    return { type: 'UnknownArgument', message: `There is no argument ${name}. Leave it out.` };
  }
  if (instancePath === '' && keyword === 'required') {
    const name = short(String(params.missingProperty));
    return { type: 'MissingArgument', message: `The argument ${name} is missing. Give it.` };
  }
  const path = instancePath.slice(1).replaceAll('/', '.');
  const where =
    path === '' ? 'The arguments do not fit' : `The argument ${short(path)} does not fit`;
  const allowed = Array.isArray(params.allowedValues)
    ? ` (${params.allowedValues.map(String).join(', ').slice(0, 500)})`
    : '';
  return { type: 'BadArgument', message: `${where}: it ${message.slice(0, 300)}${allowed}.` };
}

function short(name: string): string {
  return name.length > 100 ? `${name.slice(0, 97)}...` : name;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
