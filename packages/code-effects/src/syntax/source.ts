/** A parsed source: reading text, lines and children of Lezer's nodes. */
import type { SyntaxNode } from '@lezer/common';

export class Source {
  readonly text: string;
  readonly #lineStarts: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
  }

  of(node: SyntaxNode): string {
    return this.text.slice(node.from, node.to);
  }

  /** Line of an offset, counted from 1. */
  lineAt(offset: number): number {
    let [low, high] = [0, this.#lineStarts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lineStarts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** Characters of the line of an offset. */
  lineLengthAt(offset: number): number {
    const line = this.lineAt(offset);
    const start = this.#lineStarts[line - 1] ?? 0;
    return (this.#lineStarts[line] ?? this.text.length) - start;
  }

  /** Offset at which the line of a node starts. */
  lineStartOf(node: SyntaxNode): number {
    return this.#lineStarts[this.lineAt(node.from) - 1] ?? 0;
  }

  lineOf(node: SyntaxNode): number {
    return this.lineAt(node.from);
  }

  endLineOf(node: SyntaxNode): number {
    // A body's node ends behind the line break of its last line.
    return this.lineAt(node.from + this.of(node).trimEnd().length);
  }
}

/** Children without comments. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== 'Comment') children.push(child);
  }
  return children;
}

/** Nodes between separators of a name; a trailing separator opens no empty part. */
export function splitAt(nodes: readonly SyntaxNode[], separator: string): SyntaxNode[][] {
  const parts: SyntaxNode[][] = [[]];
  for (const node of nodes) {
    if (node.name === separator) parts.push([]);
    else parts.at(-1)?.push(node);
  }
  if (parts.at(-1)?.length === 0) parts.pop();
  return parts;
}
