export { anls } from './anls.ts';
export { boxIou } from './box-iou.ts';
export { counting } from './counting.ts';
export { exact } from './exact.ts';
export { math } from './math.ts';
export { mra } from './mra.ts';
export { multipleChoice } from './multiple-choice.ts';
export { numeric } from './numeric.ts';
export { quantity, quantityRelaxed } from './quantity.ts';
