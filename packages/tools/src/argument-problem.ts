/** Names what is wrong with arguments: first unknown names, then missing ones, then values. */
import type { z } from 'zod';
import type { RefusalType } from './refused.ts';

export interface ArgumentProblem {
  readonly type: RefusalType;
  readonly message: string;
}

export function argumentProblem(
  { issues }: z.ZodError,
  given: Readonly<Record<string, unknown>>,
): ArgumentProblem {
  const problems = issues.map((issue): ArgumentProblem => {
    const name = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
      const message = `There is no argument ${issue.keys.join(', ')}. Leave it out.`;
      return { type: 'UnknownArgument', message };
    }
    const [first] = issue.path;
    if (first !== undefined && issue.path.length === 1 && !Object.hasOwn(given, first)) {
      return { type: 'MissingArgument', message: `The argument ${name} is missing. Give it.` };
    }
    const where = name === '' ? 'The arguments do not fit' : `The argument ${name} does not fit`;
    return { type: 'BadArgument', message: `${where}: ${issue.message}.` };
  });
  const order: readonly RefusalType[] = ['UnknownArgument', 'MissingArgument', 'BadArgument'];
  const [worst] = problems.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
  return worst ?? { type: 'BadArgument', message: 'The arguments do not fit.' };
}
