/** Text for people, in lines that the terminal has room for; a pipe gets them as they are. */

/** Columns below which nothing is folded any more: a terminal that says so is not one to read on. */
const LEAST = 24;

/** Columns of a stream; infinite where it is no terminal. */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY === true && stream.columns ? stream.columns : Number.POSITIVE_INFINITY;
}

/** Words of a text in lines of at most `columns`; a longer word has a line of its own. */
export function fold(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= Math.max(LEAST, columns)) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}

/** A text whose lines are folded where they are too long; what is folded is indented as its start. */
export function foldLines(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (line.length <= columns) return [line];
      const indent = /^\s*/.exec(line)?.[0] ?? '';
      const [first = '', ...rest] = fold(line.trim(), columns - indent.length - 2);
      return [indent + first, ...rest.map((part) => `${indent}  ${part}`)];
    })
    .join('\n');
}

/** Prints to the standard output. */
export function say(text: string): void {
  console.log(foldLines(text, columnsOf(process.stdout)));
}
