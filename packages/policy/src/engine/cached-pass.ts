/** One pass over new token rows of many contexts: prompts, observations and single tokens alike. */
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import {
  attentionDecode,
  attentionDecodeWide,
  cacheRows,
  gatherRows,
  scatterRows,
  scope,
  type Tensor,
  tensor,
} from '@saccade/tensor';
import type { LanguageModel } from '../models/language-model.ts';
import type { ImageFeatures } from './image-features.ts';
import type { KvCache } from './kv-cache.ts';
import type { PassPlan } from './pass-plan.ts';

/**
 * Computes the plan's rows, fills their cache slots, and gives the normalized hidden state of each
 * entry's last token: [entries, hidden]. Every layer writes the keys and values of all rows before
 * any row attends, so a prefix and the contexts that continue it can share a pass.
 */
export function cachedPass(
  device: Device,
  parameters: Parameters,
  model: LanguageModel,
  { cache, images }: { readonly cache: KvCache; readonly images: ImageFeatures },
  plan: PassPlan,
): Tensor {
  const features = images.of(parameters, plan.images);
  const hidden = scope(() => {
    const rows = plan.ids.length;
    const width = model.kvHeads * model.headDim;
    const integers = (shape: readonly number[], data: readonly number[]) =>
      tensor(device, 'i32', shape, Int32Array.from(data));
    const slots = integers([rows], plan.slots);
    const spans = integers([plan.spans.length / 2, 2], plan.spans);
    const spanOffsets = integers([rows + 1], plan.spanOffsets);
    const input = {
      ids: Int32Array.from(plan.ids),
      positions: Int32Array.from([...plan.temporal, ...plan.height, ...plan.width]),
      features,
    };
    const x = model.decode(device, parameters, input, (layer, q, k, v) => {
      const cached = cache.layer(layer);
      // One storage throughout gives the bits of training.
      const [write, attend] =
        cache.dtype === k.dtype ? [scatterRows, attentionDecode] : [cacheRows, attentionDecodeWide];
      write(cached.k.reshape([-1, width]), k.reshape([-1, width]), slots);
      write(cached.v.reshape([-1, width]), v.reshape([-1, width]), slots);
      return attend(q, cached.k, cached.v, spans, spanOffsets);
    });
    const last = gatherRows(x, integers([plan.lastRows.length], plan.lastRows));
    return model.finalNorm(parameters, last);
  });
  for (const level of features) level.dispose();
  return hidden;
}
