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

/** Hides markup in contents, and shows it again in what a template made of them. */
export interface Veil {
  hide(text: string): string;
  reveal(text: string): string;
}

function oneOf(characters: readonly string[]): RegExp {
  const escaped = characters.map((character) => character.replace(/[\]\\^-]/, '\\$&'));
  return characters.length === 0 ? /(?!)/g : new RegExp(`[${escaped.join('')}]`, 'g');
}

/** Protects the control tokens of a tokenizer. */
export class Shield {
  /** Control tokens by their first character. */
  readonly #byFirst: ReadonlyMap<string, readonly string[]>;
  /** What control tokens begin or end with. Letters are left out: templates compare words. */
  readonly #edges: readonly string[];

  constructor(markup: Iterable<string>) {
    const byFirst = new Map<string, string[]>();
    const edges = new Set<string>();
    for (const name of markup) {
      const first = name.charAt(0);
      byFirst.set(first, [...(byFirst.get(first) ?? []), name]);
      for (const edge of [first, name.charAt(name.length - 1)]) {
        if (!/[\p{L}\p{N}_\s]/u.test(edge)) edges.add(edge);
      }
    }
    this.#byFirst = byFirst;
    this.#edges = [...edges];
  }

  /** Hides what could become a control token in `contents`: all texts that come from outside. */
  over(contents: readonly string[]): Veil {
    const firsts = [...this.#byFirst.keys()];
    const pattern = oneOf(firsts);
    // One more than the contents have, so that no contents side by side make a stand-in.
    const fills = contents.reduce((sum, text) => sum + text.split(FILL).length - 1, 1);
    const standIn = (first: string): string =>
      FILL.repeat(fills) + String.fromCharCode(FIRST_MARK + firsts.indexOf(first));
    return {
      hide: (text) =>
        text.replace(pattern, (first: string, at: number) =>
          this.#byFirst.get(first)?.some((name) => couldBecome(text, at, name))
            ? standIn(first)
            : first,
        ),
      reveal: (text) =>
        firsts.reduce((shown, first) => shown.replaceAll(standIn(first), first), text),
    };
  }

  /** Whether a text has a character that a control token begins or ends with. */
  isSuspect(text: string): boolean {
    return this.#edges.some((edge) => text.includes(edge));
  }

  /**
   * A text with private characters for all that control tokens begin or end with: nothing that a
   * template makes of it can be a control token.
   */
  mask(text: string): string {
    return text.replace(oneOf(this.#edges), (edge) =>
      String.fromCharCode(FIRST_MARK + this.#edges.indexOf(edge)),
    );
  }
}

/** Whether `name` stands there, or as much of it as the text has, or its telling beginning. */
function couldBecome(text: string, at: number, name: string): boolean {
  let same = 1;
  while (same < name.length && text[at + same] === name[same]) same++;
  return same === name.length || same >= TELLING || at + same === text.length;
}
