/** Several right answers in one text. */

/** The texts of a JSON list, or the text itself. */
export function expectedAnswers(expected: string): readonly string[] {
  if (!expected.trimStart().startsWith('[')) return [expected];
  try {
    const parsed: unknown = JSON.parse(expected);
    const isList = Array.isArray(parsed) && parsed.every((one) => typeof one === 'string');
    return isList && parsed.length > 0 ? parsed : [expected];
  } catch {
    return [expected];
  }
}
