/** Parts that backends share: pooled memory, and operands checked against their op's form. */
export { type Allocation, FreeLists, sizeClass } from './free-lists.ts';
export {
  checkLength,
  type LaunchedOperand,
  launchedOperands,
  refuseDtypes,
  storageOf,
} from './launched-operands.ts';
export { type MemorySource, PooledBuffer, PooledMemory } from './pooled-memory.ts';
export { kindOf, type OperandKind, signatureOf } from './signature.ts';
