/**
 * Keeps markup out of content while a template is rendered: what looks like a control token in a
 * text gets a private stand-in, which is taken back before the text is encoded.
 *
 * The template sees all other text as it is, since some decide by it (`'</think>' in content`).
 */

/** From this length on, the beginning of a control token is hidden wherever it stands. */
const TELLING = 3;
/** The private use area of Unicode: no text means anything by these. */
const FILL = '\ue000';
const FIRST_MARK = 0xe001;

/** Hides markup in content, and shows it again in what a template made of that content. */
export interface Shield {
  hide(text: string): string;
  reveal(text: string): string;
}

/**
 * @param contents  all texts that come from outside
 * @param markup    the strings that must not come from them
 */
export function openShield(contents: readonly string[], markup: Iterable<string>): Shield {
  const byFirst = new Map<string, string[]>();
  for (const name of markup) {
    const first = name.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), name]);
  }
  const firsts = [...byFirst.keys()];
  // One more than the contents have, so that no contents side by side make a stand-in.
  const fills = contents.reduce((sum, text) => sum + text.split(FILL).length - 1, 1);
  const standIn = (first: string): string =>
    FILL.repeat(fills) + String.fromCharCode(FIRST_MARK + firsts.indexOf(first));
  return {
    hide(text) {
      let hidden = '';
      for (let at = 0; at < text.length; at++) {
        const first = text.charAt(at);
        const isMarkup = byFirst.get(first)?.some((name) => couldBecome(text, at, name)) ?? false;
        hidden += isMarkup ? standIn(first) : first;
      }
      return hidden;
    },
    reveal: (text) =>
      firsts.reduce((shown, first) => shown.replaceAll(standIn(first), first), text),
  };
}

/** Whether `name` stands there, or as much of it as the text has, or its telling beginning. */
function couldBecome(text: string, at: number, name: string): boolean {
  let same = 1;
  while (same < name.length && text[at + same] === name[same]) same++;
  return same === name.length || same >= TELLING || at + same === text.length;
}

/**
 * A text with private characters for all that control tokens begin or end with: nothing that a
 * template makes of it can be a control token.
 */
export function masked(text: string, markup: Iterable<string>): string {
  const edges = edgesOf(markup);
  return [...text]
    .map((char) =>
      edges.includes(char) ? String.fromCharCode(FIRST_MARK + edges.indexOf(char)) : char,
    )
    .join('');
}

/** Whether a text has a character that a control token begins or ends with. */
export function isSuspect(text: string, markup: Iterable<string>): boolean {
  const edges = edgesOf(markup);
  return edges.some((edge) => text.includes(edge));
}

/** Letters are left alone: templates compare words. */
function edgesOf(markup: Iterable<string>): string[] {
  const edges = new Set<string>();
  for (const name of markup) {
    for (const edge of [name.charAt(0), name.charAt(name.length - 1)]) {
      if (!/[\p{L}\p{N}_\s]/u.test(edge)) edges.add(edge);
    }
  }
  return [...edges];
}
