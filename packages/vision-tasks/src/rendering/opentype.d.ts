/** The part of opentype.js that is used here; the package has no types of its own. */
declare module 'opentype.js' {
  /** A command of SVG path data: `M`, `L`, `Q`, `C` or `Z` with its points. */
  export interface PathCommand {
    readonly type: string;
    readonly x?: number;
    readonly y?: number;
    readonly x1?: number;
    readonly y1?: number;
    readonly x2?: number;
    readonly y2?: number;
  }
  interface Glyph {
    readonly advanceWidth: number;
    getPath(x: number, y: number, size: number): { readonly commands: readonly PathCommand[] };
  }
  interface Font {
    readonly unitsPerEm: number;
    charToGlyph(character: string): Glyph;
  }
  const opentype: { parse(bytes: ArrayBuffer): Font };

  // biome-ignore lint/style/noDefaultExport: the package has no other export.
  export default opentype;
}
