/** The contract of the attention ops on a device, as plain functions and as named checks. */
import {
  type CheckOptions,
  type DeviceCheck,
  type Need,
  needsOf,
  opChecks,
} from '@saccade/ops/contract';
import { checkDecodeMatchesAttention, type DecodeShape } from './check-decode.ts';
import { checkForestRefusals, checkSpanRefusals } from './check-refusals.ts';
import {
  checkNaNStaysInItsTree,
  checkSharedPrefix,
  checkSharedPrefixGradients,
  type PrefixShape,
} from './check-sharing.ts';
import { attention, attentionDecode } from './ops/catalog.ts';
import { attentionCatalog } from './registry.ts';

export { checkDecodeMatchesAttention, type DecodeShape } from './check-decode.ts';
export { checkForestRefusals, checkSpanRefusals } from './check-refusals.ts';
export {
  checkNaNStaysInItsTree,
  checkSharedPrefix,
  checkSharedPrefixGradients,
  type PrefixShape,
} from './check-sharing.ts';

/** From one block of keys to several, with remainders; more heads than threads; windows. */
const DECODED: readonly DecodeShape[] = [
  { T: 5, S: 2, H: 2, G: 1, D: 8 },
  { T: 70, S: 1, H: 4, G: 2, D: 32 },
  { T: 150, S: 5, H: 6, G: 2, D: 20 },
  { T: 200, S: 9, H: 3, G: 3, D: 64 },
  { T: 90, S: 3, H: 20, G: 2, D: 16 },
  { T: 200, S: 4, H: 4, G: 2, D: 16, window: 40 },
  { T: 300, S: 2, H: 2, G: 1, D: 8, window: 128 },
];

/** Prefixes and responses that end inside blocks of keys, and a window that ends in the prefix. */
const SHARED: readonly PrefixShape[] = [
  { prefix: 90, responses: [40, 7, 65], H: 4, G: 2, D: 32 },
  { prefix: 70, responses: [33, 80], H: 4, G: 2, D: 32, window: 50 },
];

/** Layouts are integers whatever the floats are stored as, so once is enough. */
const refusals: readonly DeviceCheck[] = [
  {
    name: 'attention refuses segments that are no forest, in words',
    needs: needsOf(attention, 'f32').slice(0, 1),
    run: ({ device }) => checkForestRefusals(device),
  },
  {
    name: 'attentionDecode refuses spans that are not in the cache, in words',
    needs: needsOf(attentionDecode, 'f32'),
    run: ({ device }) => checkSpanRefusals(device),
  },
];

/**
 * All checks of the attention ops on a backend: every kernel, decoding against training, a shared
 * prefix against the repeated one, NaN that stays where it is, and layouts that are refused. None for
 * `mixed` storage: the ops have no weights.
 */
export function attentionChecks(options: CheckOptions = {}): readonly DeviceCheck[] {
  const { dtype = 'f32' } = options;
  if (dtype === 'mixed') return [];
  const trained = needsOf(attention, dtype);
  const forward: readonly Need[] = trained.slice(0, 1);
  return [
    ...attentionCatalog.flatMap((op) => opChecks(op, options)),
    {
      name: `attentionDecode in ${dtype} gives the bits of attention`,
      needs: [...forward, ...needsOf(attentionDecode, dtype)],
      async run({ device }) {
        for (const [seed, shape] of DECODED.entries()) {
          await checkDecodeMatchesAttention(device, shape, seed, dtype);
        }
      },
    },
    {
      name: `attention in ${dtype} gives a shared prefix the bits of the repeated one`,
      needs: forward,
      async run({ device }) {
        for (const shape of SHARED) await checkSharedPrefix(device, shape, 3, dtype);
      },
    },
    {
      name: `attention in ${dtype} gives a shared prefix the gradients of the repeated one, summed`,
      needs: trained,
      async run({ device }) {
        for (const shape of SHARED) await checkSharedPrefixGradients(device, shape, 3, dtype);
      },
    },
    {
      name: `attention in ${dtype} keeps NaN out of the gradients of other sequences`,
      needs: trained,
      async run({ device }) {
        for (const scalars of [{}, { causal: 0 }, { window: 10 }]) {
          await checkNaNStaysInItsTree(device, scalars, 5, dtype);
        }
      },
    },
    ...(dtype === 'f32' ? refusals : []),
  ];
}
