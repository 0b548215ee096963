/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The script of a rating page, as one function that uses nothing outside of itself: its text goes into
 * the page, which loads nothing from elsewhere.
 */

/** The data that the page holds for its script. */
export interface PageData {
  readonly study: string;
  readonly mode: 'pairs' | 'single';
  readonly choices: readonly string[];
  /** By rater: items in their order, with their sides. */
  readonly orders: Readonly<
    Record<string, readonly { readonly id: string; readonly isSwapped: boolean }[]>
  >;
}

/**
 * Shows one item at a time in the rater's order, takes ratings by click and by key, keeps them in
 * localStorage, and hands them out as files. It writes text by `textContent` alone.
 */
export function runRatingPage(): void {
  interface Given {
    value?: string;
    comment?: string;
  }
  type Ratings = Record<string, Given>;
  const find = <T extends Element>(selector: string, within: ParentNode = document): T => {
    const found = within.querySelector<T>(selector);
    if (found === null) throw new Error(`The page has no ${selector}.`);
    return found;
  };
  const data = JSON.parse(find('#data').textContent ?? '') as PageData;
  const items = new Map(
    [...document.querySelectorAll<HTMLElement>('.item')].map((item) => [item.dataset.item, item]),
  );
  const comment = find<HTMLTextAreaElement>('#comment');
  const said = find('#said');
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('button[data-value]')];
  let rater: string | undefined;
  let at = 0;
  let ratings: Ratings = {};

  const nameIn = (who: string): string => `saccade-ratings ${data.study} ${who}`;
  const say = (text: string): void => {
    said.textContent = text;
  };
  const read = (who: string): Ratings => {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(nameIn(who)) ?? '{}');
      return typeof stored === 'object' && stored !== null ? (stored as Ratings) : {};
    } catch {
      return {};
    }
  };
  const keep = (): void => {
    if (rater === undefined) return;
    try {
      localStorage.setItem(nameIn(rater), JSON.stringify(ratings));
    } catch {
      say('This browser keeps nothing for files: download your ratings before you close the page.');
    }
  };
  const order = () => (rater === undefined ? [] : (data.orders[rater] ?? []));
  const rated = (): number => order().filter(({ id }) => ratings[id]?.value !== undefined).length;

  const show = (): void => {
    const own = order();
    const place = own[at];
    if (place === undefined) return;
    for (const item of items.values()) item.hidden = item.dataset.item !== place.id;
    const given = ratings[place.id];
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.value === given?.value));
    }
    comment.value = given?.comment ?? '';
    find('#place').textContent = `Item ${at + 1} of ${own.length}`;
    const progress = find<HTMLProgressElement>('#progress');
    progress.max = own.length;
    progress.value = rated();
    find('#rated').textContent = `${rated()} rated`;
    find<HTMLButtonElement>('#back').disabled = at === 0;
    find<HTMLButtonElement>('#next').disabled = at === own.length - 1;
    find<HTMLElement>('#done').hidden = rated() < own.length;
    window.scrollTo(0, 0);
  };
  const go = (by: number): void => {
    at = Math.min(Math.max(at + by, 0), order().length - 1);
    show();
  };
  const rate = (value: string): void => {
    const place = order()[at];
    if (place === undefined) return;
    ratings[place.id] = { ...ratings[place.id], value };
    keep();
    say(`${place === order().at(-1) ? 'Last item: ' : ''}rated ${value}.`);
    if (at < order().length - 1) go(1);
    else show();
  };
  const begin = (who: string): void => {
    rater = who;
    ratings = read(who);
    // The sides of a rater's items, first as A unless swapped.
    for (const { id, isSwapped } of order()) {
      const sides = items.get(id)?.querySelector('.sides');
      const first = sides?.querySelector('[data-side="first"]');
      if (sides === null || sides === undefined || first === null || first === undefined) continue;
      if (isSwapped) sides.append(first);
      else sides.prepend(first);
      for (const [index, side] of [...sides.querySelectorAll('[data-side]')].entries()) {
        find('h3', side).textContent = index === 0 ? 'A' : 'B';
      }
    }
    at = Math.max(
      0,
      order().findIndex(({ id }) => ratings[id]?.value === undefined),
    );
    find<HTMLElement>('#begin').hidden = true;
    find<HTMLElement>('#rate').hidden = false;
    show();
    say(rated() > 0 ? `Welcome back: ${rated()} of ${order().length} items are rated.` : '');
    find<HTMLElement>('#place').focus();
  };

  const cell = (text: string): string => {
    const plain = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u.test(text)
      ? `'${text}`
      : text;
    return `"${plain.replaceAll('"', '""')}"`;
  };
  const csv = (): string => {
    const rows = order().map(({ id }) => [
      data.study,
      rater ?? '',
      id,
      ratings[id]?.value ?? '',
      ratings[id]?.comment ?? '',
    ]);
    const head = ['study', 'rater', 'item', 'rating', 'comment'];
    return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
  };
  const json = (): string => {
    const given = Object.fromEntries(
      order().flatMap(({ id }) => {
        const own = ratings[id];
        if (own?.value === undefined) return [];
        return [[id, { value: own.value, comment: own.comment ?? '' }]];
      }),
    );
    const file = { format: 1, kind: 'ratings', study: data.study, rater, ratings: given };
    return `${JSON.stringify(file, null, 2)}\n`;
  };
  const download = (text: string, type: string, ending: string): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = `ratings-${data.study}-${rater ?? ''}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    say(`Downloaded ${link.download}.`);
  };
  const restore = async (file: File): Promise<void> => {
    try {
      const read = JSON.parse(await file.text()) as {
        readonly study?: unknown;
        readonly rater?: unknown;
        readonly ratings?: Ratings;
      };
      if (read.study !== data.study || read.rater !== rater) {
        say('That file belongs to another study or rater. Nothing was changed.');
        return;
      }
      for (const [id, given] of Object.entries(read.ratings ?? {})) {
        if (items.has(id) && data.choices.includes(String(given.value))) {
          ratings[id] = { value: String(given.value), comment: String(given.comment ?? '') };
        }
      }
      keep();
      show();
      say(`Restored: ${rated()} of ${order().length} items are rated.`);
    } catch {
      say('That file is not one that this page downloaded (JSON). Nothing was changed.');
    }
  };

  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-rater]')) {
    button.addEventListener('click', () => begin(button.dataset.rater ?? ''));
  }
  for (const button of buttons) {
    button.addEventListener('click', () => rate(button.dataset.value ?? ''));
  }
  find('#back').addEventListener('click', () => go(-1));
  find('#next').addEventListener('click', () => go(1));
  find('#json').addEventListener('click', () => download(json(), 'application/json', 'json'));
  find('#csv').addEventListener('click', () => download(csv(), 'text/csv', 'csv'));
  const chosen = find<HTMLInputElement>('#file');
  chosen.addEventListener('change', () => {
    const [file] = chosen.files ?? [];
    if (file !== undefined) void restore(file);
    // So that the same file can be chosen again.
    chosen.value = '';
  });
  comment.addEventListener('input', () => {
    const place = order()[at];
    if (place === undefined) return;
    ratings[place.id] = { ...ratings[place.id], comment: comment.value };
    keep();
  });
  document.addEventListener('keydown', (event) => {
    if (rater === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.activeElement === comment) {
      if (event.key === 'Escape') comment.blur();
      return;
    }
    const value = data.choices[Number(event.key) - 1];
    if (value !== undefined && /^[1-9]$/.test(event.key)) rate(value);
    else if (event.key === 'ArrowRight' || event.key === 'n') go(1);
    else if (event.key === 'ArrowLeft' || event.key === 'p') go(-1);
    else if (event.key === 'c') comment.focus();
    else return;
    event.preventDefault();
  });
}
