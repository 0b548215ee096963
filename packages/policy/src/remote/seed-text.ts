/** A request's random address as the one 64-bit integer that engines take for a seed. */

/** [a, b] as a·2³² + b, two's complement: the digits of a JSON number beyond JavaScript's own. */
export function seedText([high, low]: readonly [number, number]): string {
  const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  return BigInt.asIntN(64, bits).toString();
}

/** The two words of a seed; any 64-bit integer has some. */
export function seedWords(digits: string): readonly [number, number] {
  const bits = BigInt.asUintN(64, BigInt(digits));
  return [Number(bits >> 32n), Number(bits & 0xffffffffn)];
}

/** JSON of an object with one more field, whose value is given as JSON. */
export function jsonWith(body: object, field: string, value: string): string {
  const text = JSON.stringify(body);
  const separator = text === '{}' ? '' : ',';
  return `${text.slice(0, -1)}${separator}${JSON.stringify(field)}:${value}}`;
}
