export { angleAddition } from './angle-addition.ts';
export { angleSum } from './angle-sum.ts';
export {
  areaAddition,
  perimeters,
  polygonAreas,
  similarAreas,
  triangleAreas,
} from './areas.ts';
export { chordBisection, incircle, powerOfPoint, twoTangents } from './circle-lengths.ts';
export { arcMidpoints, circleMeasures } from './circle-measures.ts';
export {
  anglesOverChord,
  arcs,
  chordsAndSecants,
  inscribedAngles,
  radii,
  tangentChord,
} from './circles.ts';
export {
  parallelFromAngles,
  parallelLines,
  parallelTransitivity,
  perpendicularParallel,
} from './parallel-lines.ts';
export { diagonals, midsegment, parallelogramFromSides, parallelograms } from './quadrilaterals.ts';
export { segmentAddition } from './segment-addition.ts';
export { bisectorTheorem, centroid, medianToHypotenuse } from './triangle-lines.ts';
export {
  angleFromSides,
  angleFromSine,
  lawOfCosines,
  lawOfSines,
  pythagoras,
} from './triangle-measures.ts';
export { congruentTriangles, partsOfAlike, similarTriangles } from './triangles-alike.ts';
