/** Every WebGPU kernel, one line each. */
import { adamwStep } from './adamw-step.ts';
import { add } from './add.ts';
import { attention } from './attention.ts';
import { attentionDecode } from './attention-decode.ts';
import { attentionDecodeWide } from './attention-decode-wide.ts';
import { axpby } from './axpby.ts';
import { cacheRows } from './cache-rows.ts';
import { dequantizeBlocks } from './dequantize-blocks.ts';
import { embedding } from './embedding.ts';
import { expertLinear } from './expert-linear.ts';
import { gatherRows } from './gather-rows.ts';
import { gelu } from './gelu.ts';
import { gemm } from './gemm.ts';
import { gemmQuantized } from './gemm-quantized.ts';
import { gradNorm } from './grad-norm.ts';
import type { WebGpuKernel } from './kernel.ts';
import { layerNorm } from './layer-norm.ts';
import { linearLogprob } from './linear-logprob.ts';
import { linearSample } from './linear-sample.ts';
import { linearSampleTruncated } from './linear-sample-truncated.ts';
import { mergeStates } from './merge-states.ts';
import { quantizeBlocks } from './quantize-blocks.ts';
import { quantizeWeight } from './quantize-weight.ts';
import { rmsNorm } from './rms-norm.ts';
import { rotary } from './rotary.ts';
import { routeExperts } from './route-experts.ts';
import { scaleColumns } from './scale-columns.ts';
import { scatterRows } from './scatter-rows.ts';
import { sign } from './sign.ts';
import { swiglu } from './swiglu.ts';
import { weightedSum } from './weighted-sum.ts';

/** All kernels; `kernel.op` is the id of the op that each runs. */
export const webGpuKernels: readonly WebGpuKernel[] = [
  adamwStep,
  add,
  attention,
  attentionDecode,
  attentionDecodeWide,
  axpby,
  cacheRows,
  dequantizeBlocks,
  embedding,
  expertLinear,
  gatherRows,
  gelu,
  gemm,
  gemmQuantized,
  gradNorm,
  layerNorm,
  linearLogprob,
  linearSample,
  linearSampleTruncated,
  mergeStates,
  quantizeBlocks,
  quantizeWeight,
  rmsNorm,
  rotary,
  routeExperts,
  scaleColumns,
  scatterRows,
  sign,
  swiglu,
  weightedSum,
];
