export {
  openTinkerClient,
  TinkerClient,
  type TinkerClientOptions,
} from './client/tinker-client.ts';
