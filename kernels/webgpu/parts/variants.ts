/** Variants of a shader, each made once: a backend knows the same object again. */
import type { Shader } from '../shader.ts';

/** `make`, which is run once for each key. */
export function variants<Options>(
  keyOf: (options: Options) => string,
  make: (options: Options) => Shader,
): (options: Options) => Shader {
  const made = new Map<string, Shader>();
  return (options) => {
    const key = keyOf(options);
    const found = made.get(key) ?? make(options);
    made.set(key, found);
    return found;
  };
}
