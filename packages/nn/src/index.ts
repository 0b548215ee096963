export {
  type DeepstackTowerShape,
  deepstackTower,
  deepstackTowerSpecs,
} from './deepstack-tower.ts';
export { type ExpertShape, expertsFeedForward } from './experts.ts';
export { type FeedForward, geluFeedForward, swigluFeedForward } from './feed-forward.ts';
export {
  layerNormLayer,
  layerNormSpecs,
  linearLayer,
  linearSpecs,
  normSpecs,
  rmsNormLayer,
  swigluMlp,
  swigluMlpSpecs,
} from './layers.ts';
export {
  type LoraScale,
  loraNames,
  loraScale,
  loraScaleTensor,
  loraSpecs,
} from './lora.ts';
export { type LoraTargets, targetedLayers } from './lora-targets.ts';
export { type BlockObserver, observingBlocks } from './observe-blocks.ts';
export {
  type Initializer,
  initialize,
  initialValues,
  type ParameterSpec,
  type Parameters,
  parameter,
} from './parameters.ts';
export { patchEmbedding, patchMerger, patchMergerSpecs } from './patch-merger.ts';
export {
  allocateQuantized,
  type QuantizedWeight,
  quantizedNames,
  requantize,
} from './quantized.ts';
export type { RotaryScaling } from './rotary-frequencies.ts';
export { mropeTable, type RotaryTable, rotaryTable, visionRotaryTable } from './rotary-tables.ts';
export type { NamedArray } from './safetensors.ts';
export {
  type TileTowerNames,
  type TileTowerShape,
  tileTower,
  tileTowerSpecs,
} from './tile-tower.ts';
export {
  type Attend,
  type BlockNames,
  type BlockShape,
  blockSpecs,
  decoderNames,
  transformerBlock,
  visionNames,
} from './transformer-block.ts';
export {
  type VisionTowerInput,
  type VisionTowerShape,
  visionTower,
  visionTowerSpecs,
} from './vision-tower.ts';
export {
  type PatchGrid,
  type WindowLayout,
  type WindowOptions,
  windowLayout,
} from './vision-windows.ts';
export { layoutOf, type StoredNames, type WeightLayout } from './weight-layout.ts';
