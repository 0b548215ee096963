/** Names of tensors in checkpoints, where they differ from those of parameters. */
import type { StoredTensor } from './language-model.ts';

const FUSED = 'qkv';
const QKV = /^(.+\.)([qkv])(\.(?:weight|bias))$/;

/** A parameter q, k or v below a prefix that matches is a third of a tensor called qkv there. */
export function splitQkv(parameter: string, prefix: RegExp): StoredTensor {
  const match = QKV.exec(parameter);
  if (match === null) return { name: parameter };
  const [, before = '', part = '', suffix] = match;
  if (!prefix.test(before)) return { name: parameter };
  return {
    name: `${before}${FUSED}${suffix}`,
    part: { index: FUSED.indexOf(part), of: FUSED.length },
  };
}
