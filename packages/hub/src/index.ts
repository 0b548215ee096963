export { type DatasetWish, fetchDataset } from './fetch-dataset.ts';
export { type FetchOptions, fetchModel } from './fetch-model.ts';
export type { Hub, HubRepo } from './hub.ts';
export {
  isHubName,
  type ModelSource,
  parseModelSource,
  parseSource,
  type Source,
} from './source.ts';
