/** Patterns of file names: `*`, `**`, `?` and `{a,b}`. */

/** True if a name matches one of the patterns. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => expressionOf(pattern).test(name));
}

function expressionOf(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[\\^$.|+()[\]]/g, (part, words) => {
    if (part === '**/') return '(?:[^/]+/)*';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (words === undefined) return `\\${part}`;
    const escaped = (words as string).split(',').map((word) => word.replace(/\W/g, '\\$&'));
    return `(?:${escaped.join('|')})`;
  });
  return new RegExp(`^${source}$`);
}
