/** The text the model wrote, and the tags in it. */
import type { Trajectory } from '@saccade/trajectory';

/** One text per turn. */
export function modelTexts({ segments }: Trajectory): readonly string[] {
  return segments.filter(({ kind }) => kind === 'model').map(({ text }) => text);
}

/** How often a text occurs in another, without overlap. */
export function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The texts between each opening tag and the next closing one, for all pairs, in one pass. */
export function allBetween(text: string, open: string, close: string): readonly string[] {
  const found: string[] = [];
  for (let from = 0; ; ) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return found;
    found.push(text.slice(start + open.length, end));
    from = end + close.length;
  }
}

/** Whether a tag is opened as often as it is closed, and each is closed before the next opens. */
export function isBalanced(text: string, tag: string): boolean {
  let isOpen = false;
  for (const [mark] of text.matchAll(new RegExp(`</?${tag}>`, 'g'))) {
    const opens = !mark.startsWith('</');
    if (opens === isOpen) return false;
    isOpen = opens;
  }
  return !isOpen;
}

/** Tokens the model wrote. */
export function modelTokenCount({ segments }: Trajectory): number {
  return segments.reduce(
    (sum, { kind, tokens }) => sum + (kind === 'model' ? tokens.length : 0),
    0,
  );
}
