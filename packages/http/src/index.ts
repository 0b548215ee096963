export {
  type HttpAnswer,
  type HttpBytesAnswer,
  HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpStreamRequest,
} from './http-client.ts';
export {
  HttpError,
  type HttpErrorDetails,
  type HttpFault,
  type RefusalBody,
} from './http-error.ts';
export { faultOf } from './http-failures.ts';
export { JsonError, type JsonFault, type JsonLimits, parseJson } from './json.ts';
