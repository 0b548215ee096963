/** HTML as a tagged template: whatever is put into it is escaped unless it is HTML already. */

/** Text that is HTML: made only by `html` and `rawHtml`. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A value that a template takes; `undefined`, `null` and `false` become nothing. */
export type HtmlPart = Html | string | number | false | null | undefined | readonly HtmlPart[];

/** `html\`<p>${text}</p>\``: the template is markup, the parts are text. */
export function html(markup: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let text = markup[0] ?? '';
  parts.forEach((part, index) => {
    text += render(part) + (markup[index + 1] ?? '');
  });
  return new Html(text);
}

/** Text that is known to be HTML, such as a style sheet of our own. */
export function rawHtml(text: string): Html {
  return new Html(text);
}

/** Text with the characters escaped that mean something in HTML, attributes included. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function render(part: HtmlPart): string {
  if (part === undefined || part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  return part.map(render).join('');
}
