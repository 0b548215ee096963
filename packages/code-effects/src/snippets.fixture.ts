/**
 * Code as policies write it, with the operations that it does, written down by hand.
 *
 * The input is `image_clue_0`, 640 × 400. Operations on one line, in order, those on files and shows
 * left out; a crop with its box in the canonical frame, a resize with its sides. `~` marks a no-op,
 * `?` what is behind a condition that cannot be decided, `!` a box that the library refuses.
 */

import { arraySnippets } from './snippets-arrays.fixture.ts';
import { chainedSnippets } from './snippets-chained.fixture.ts';
import { pillowSnippets } from './snippets-pillow.fixture.ts';
import { trickySnippets } from './snippets-tricky.fixture.ts';

export interface Snippet {
  readonly name: string;
  /** Executions of one session in order. */
  readonly turns: readonly string[];
  readonly expected: readonly string[];
}

export const SNIPPET_WIDTH = 640;
export const SNIPPET_HEIGHT = 400;

/** `### name`, code, `---` between turns, `=> operations` at the end. */
function read(written: string): readonly Snippet[] {
  return written
    .split(/^### /m)
    .slice(1)
    .map((entry) => {
      const [name = ''] = entry.split('\n', 1);
      const [code = '', expected = ''] = entry.slice(name.length + 1).split(/^=> ?/m);
      const operations = expected.split(';').map((part) => part.trim());
      return {
        name,
        turns: code.split(/^---\n/m),
        expected: operations.filter((part) => part !== ''),
      };
    });
}

export const snippets: readonly Snippet[] = [
  ...read(pillowSnippets),
  ...read(arraySnippets),
  ...read(chainedSnippets),
  ...read(trickySnippets),
];
