/** Names that a model may write, for the names of a server's tools. */

/** A tool's name on the server, and here. */
export interface MappedName {
  readonly theirs: string;
  readonly ours: string;
}

/**
 * Maps names to `[a-z][a-z0-9_]*`, in the order of the server: `get-sum` and `getSum` become
 * `get_sum` and `get_sum_2`. A name that fits keeps its own.
 */
export function mapNames(names: readonly string[], prefix = ''): readonly MappedName[] {
  const plain = names.map((theirs) => prefix + theirs);
  const taken = new Set(plain.filter(fits));
  return names.map((theirs, index) => {
    const own = plain[index] as string;
    if (fits(own)) return { theirs, ours: own };
    const base = snakeCase(own);
    let ours = base;
    for (let count = 2; taken.has(ours); count++) ours = `${base}_${count}`;
    taken.add(ours);
    return { theirs, ours };
  });
}

const LONGEST = 64;

function fits(name: string): boolean {
  return name.length <= LONGEST && /^[a-z][a-z0-9_]*$/.test(name);
}

function snakeCase(name: string): string {
  const words = name
    .slice(0, 4 * LONGEST)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, LONGEST);
  return /^[a-z]/.test(words) ? words : `tool_${words}`.replace(/_$/, '');
}
