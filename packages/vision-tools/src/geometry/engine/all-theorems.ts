/** The theorems that the solver applies, each group from the file of its idea. */
export { angleAddition } from './theorems/angle-addition.ts';
export { angleSum } from './theorems/angle-sum.ts';
export {
  areaAddition,
  perimeters,
  polygonAreas,
  similarAreas,
  triangleAreas,
} from './theorems/areas.ts';
export { chordBisection, incircle, powerOfPoint, twoTangents } from './theorems/circle-lengths.ts';
export { arcMidpoints, circleMeasures } from './theorems/circle-measures.ts';
export {
  anglesOverChord,
  arcs,
  chordsAndSecants,
  inscribedAngles,
  radii,
  tangentChord,
} from './theorems/circles.ts';
export {
  parallelFromAngles,
  parallelLines,
  parallelTransitivity,
  perpendicularParallel,
} from './theorems/parallel-lines.ts';
export {
  diagonals,
  midsegment,
  parallelogramFromSides,
  parallelograms,
} from './theorems/quadrilaterals.ts';
export { segmentAddition } from './theorems/segment-addition.ts';
export { bisectorTheorem, centroid, medianToHypotenuse } from './theorems/triangle-lines.ts';
export {
  angleFromSides,
  angleFromSine,
  lawOfCosines,
  lawOfSines,
  pythagoras,
} from './theorems/triangle-measures.ts';
export { congruentTriangles, partsOfAlike, similarTriangles } from './theorems/triangles-alike.ts';
