export {
  attention,
  attentionDecode,
  attentionDecodeWide,
  cacheRows,
  mergeStates,
} from './ops/catalog.ts';
export { attentionCatalog, attentionOps } from './registry.ts';
export {
  joinPlans,
  pathTo,
  planSegments,
  planSharedPrefix,
  planTree,
  planVarlen,
  type SegmentPlan,
  type SegmentTree,
  type SharedPrefix,
  segmentAt,
  withPositions,
} from './segments.ts';
