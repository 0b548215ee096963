export { orientation } from './orientation.ts';
export { orientationDiagnostic } from './orientation-diagnostic.ts';
