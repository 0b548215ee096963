/** The part of opentype.js that is used here; the package has no types of its own. */
declare module 'opentype.js' {
  interface Glyph {
    readonly advanceWidth: number;
    getPath(x: number, y: number, size: number): { toPathData(decimals: number): string };
  }
  interface Font {
    readonly unitsPerEm: number;
    charToGlyph(character: string): Glyph;
  }
  const opentype: { parse(bytes: ArrayBuffer): Font };
  export { opentype as default };
}
