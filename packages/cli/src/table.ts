/** Tables of the terminal. */

/** Columns as wide as their widest cell; the last is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of formatTable(rows)) console.log(line);
}
