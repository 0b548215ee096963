/** The part of opentype.js that is used here; the package has no types of its own. */
declare module 'opentype.js' {
  type Command =
    | { readonly type: 'M' | 'L'; readonly x: number; readonly y: number }
    | Readonly<Record<'x1' | 'y1' | 'x' | 'y', number> & { type: 'Q' }>
    | Readonly<Record<'x1' | 'y1' | 'x2' | 'y2' | 'x' | 'y', number> & { type: 'C' }>
    | { readonly type: 'Z' };
  interface Glyph {
    readonly advanceWidth: number;
    getPath(x: number, y: number, size: number): { readonly commands: readonly Command[] };
  }
  interface Font {
    readonly unitsPerEm: number;
    charToGlyph(character: string): Glyph;
  }

  export type { Command };

  export function parse(bytes: ArrayBuffer): Font;

  const all: { readonly parse: typeof parse } | undefined;

  export { all as default };
}
