export { csv } from './csv.ts';
export { jsonl } from './jsonl.ts';
export { tensorboard } from './tensorboard.ts';
