/** Load with faults for a tool service: simple tools, tools that break, and the generator. */
export { type Fault, faults, faulty } from './load/faulty.ts';
export type { Belongings } from './load/leftovers.ts';
export { deviceTool, digestTool, showTool } from './load/plain-tools.ts';
export { type LoadGroup, type LoadOptions, type LoadReport, runLoad } from './load/run-load.ts';
