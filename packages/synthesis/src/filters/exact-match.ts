import { flag } from '@saccade/core/settings';
import { z } from 'zod';
import { defineFilter } from '../filter.ts';

/**
 * Drops answers that are not the reference, character by character after trimming and taking off a
 * box: VISTA's filter (arXiv:2511.19773, §5.1), stricter than a verifier.
 */
export const exactMatch = defineFilter({
  name: 'exact-match',
  description: 'Drops answers that are not the reference text itself.',
  settings: z.strictObject({
    ignoresCase: flag({ default: true, about: 'Whether upper and lower case count as the same.' }),
  }),
  drops({ trajectory: { answer }, task }, { ignoresCase }) {
    if (answer === undefined) return 'no answer';
    const plain = (text: string): string => {
      const said = (/^\s*\\boxed\{([\s\S]*)\}\s*$/.exec(text)?.[1] ?? text).trim();
      return ignoresCase ? said.toLowerCase() : said;
    };
    return plain(answer) === plain(task.answer) ? undefined : 'not the reference text';
  },
});
