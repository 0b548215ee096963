/** What a block of the vision tower of Qwen2.5-VL does with an image. */
import { attention } from '@saccade/attention';
import { gemm } from '@saccade/ops';
import type { Pass } from '../prepared-case.ts';
import { type QwenSizes, qwen3b } from '../published-sizes.ts';
import { gemmCase, type Heads, sequencesCase } from './cases.ts';
import type { TableRow } from './table-row.ts';

/** Windows of 112 pixels are 8 × 8 patches. */
export const WINDOW_PATCHES = 64;

const PASSES: readonly Pass[] = ['forward', 'backward'];

/** @param patches  of the image; 4,096 are 896 × 896 pixels. A multiple of a window's */
export function visionRows(
  patches: number,
  { hidden, heads, intermediate }: QwenSizes['vision'] = qwen3b.vision,
): readonly TableRow[] {
  const shape: Heads = { H: heads, G: heads, D: hidden / heads };
  const windows = { sequences: patches / WINDOW_PATCHES, length: WINDOW_PATCHES };
  const row = (what: string, job: Pick<TableRow['job'], 'op' | 'opCase'>): TableRow => ({
    title: `vision tower, ${what}`,
    job: { ...job, passes: PASSES },
  });
  const product = (what: string, N: number, K: number): TableRow =>
    row(`${what}, ${patches}×${N}×${K}`, { op: gemm, opCase: gemmCase({ M: patches, N, K }) });
  return [
    row(`windows of ${WINDOW_PATCHES}, T${patches}`, {
      op: attention,
      opCase: sequencesCase(windows, shape, 'whole'),
    }),
    row(`whole image, T${patches}`, {
      op: attention,
      opCase: sequencesCase({ sequences: 1, length: patches }, shape, 'whole'),
    }),
    product('query, key or value', hidden, hidden),
    product('gate or up', intermediate, hidden),
    product('down', hidden, intermediate),
  ];
}
