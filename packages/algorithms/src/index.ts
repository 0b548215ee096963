export type { Algorithm, AlgorithmResult, GlobalCounts, TokenBatch } from './algorithm.ts';
