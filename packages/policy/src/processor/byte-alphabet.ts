/** The printable stand-ins that byte-level BPE uses for the 256 bytes (as in GPT-2's tokenizer). */

/** [256] one character for each byte. */
export const byteCharacters: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte)
  .map((byte) => {
    const isPrintable =
      (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
    return isPrintable ? String.fromCharCode(byte) : undefined;
  })
  .reduce<{ characters: string[]; next: number }>(
    ({ characters, next }, character) => {
      characters.push(character ?? String.fromCharCode(next));
      return { characters, next: character === undefined ? next + 1 : next };
    },
    { characters: [], next: 256 },
  ).characters;

const bytesByCharacter = new Map(byteCharacters.map((character, byte) => [character, byte]));

/** The bytes that a token's stand-in characters mean. */
export function tokenBytes(token: string): Uint8Array {
  return Uint8Array.from([...token].map((character) => bytesByCharacter.get(character) ?? 0x3f));
}
