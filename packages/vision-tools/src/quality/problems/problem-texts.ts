/** Geometry problems in the words of textbooks, with the statements and the goal that they mean. */

export interface ProblemText {
  readonly text: string;
  /** The statements, in FormalGeo's language; that a triangle or a line is there does not count. */
  readonly said: readonly string[];
  readonly asked: string;
}

const problem = (text: string, said: readonly string[], asked: string): ProblemText => ({
  ...{ text, said, asked },
});
const length = (segment: string): string => `LengthOfLine(${segment})`;
const angle = (corner: string): string => `MeasureOfAngle(${corner})`;
const equal = (left: string, right: string | number): string => `Equal(${left},${right})`;
const is = (segment: string, value: string | number): string => equal(length(segment), value);
const turn = (corner: string, value: string | number): string => equal(angle(corner), value);
const find = (what: string): string => `Value(${what})`;

export const problemTexts: readonly ProblemText[] = [
  problem(
    'In triangle ABC, angle A = 50° and angle B = 60°. Find the measure of angle C.',
    [turn('BAC', 50), turn('ABC', 60)],
    find(angle('ACB')),
  ),
  problem(
    'Triangle PQR has a right angle at Q. PQ = 6 and QR = 8. What is PR?',
    [turn('PQR', 90), is('PQ', 6), is('QR', 8)],
    find(length('PR')),
  ),
  problem(
    'AB ∥ CD. Angle ABC = 48°. Find angle BCD.',
    ['ParallelBetweenLine(AB,CD)', turn('ABC', 48)],
    find(angle('BCD')),
  ),
  problem(
    'M is the midpoint of AB. AM = 7. Find AB.',
    ['IsMidpointOfLine(M,AB)', is('AM', 7)],
    find(length('AB')),
  ),
  problem(
    'In △DEF, DE = 10, DF = 10 and EF = 12. Find the area of △DEF.',
    [is('DE', 10), is('DF', 10), is('EF', 12)],
    find('AreaOfTriangle(DEF)'),
  ),
  problem(
    'ABCD is a rectangle with AB = 9 and BC = 12. How long is diagonal AC?',
    ['Rectangle(ABCD)', is('AB', 9), is('BC', 12)],
    find(length('AC')),
  ),
  problem(
    'The diagonals of rhombus WXYZ are WY = 10 and XZ = 24. Find the perimeter of WXYZ.',
    ['Rhombus(WXYZ)', is('WY', 10), is('XZ', 24)],
    find('PerimeterOfQuadrilateral(WXYZ)'),
  ),
  problem(
    'Circle O has a radius of 5 cm. Find its area.',
    [equal('RadiusOfCircle(O)', 5)],
    find('AreaOfCircle(O)'),
  ),
  problem(
    'AB is a diameter of circle O. C is a point on circle O, and angle BAC = 35°. Find angle ABC.',
    ['IsDiameterOfCircle(AB,O)', 'Cocircular(O,C)', turn('BAC', 35)],
    find(angle('ABC')),
  ),
  problem(
    'PA is tangent to circle O at A. OA = 3 and PA = 4. Find OP.',
    ['IsTangentOfCircle(PA,O)', is('OA', 3), is('PA', 4)],
    find(length('OP')),
  ),
  problem(
    'AD bisects angle BAC. Angle BAD = 28°. Find angle BAC.',
    ['IsBisectorOfAngle(AD,BAC)', turn('BAD', 28)],
    find(angle('BAC')),
  ),
  problem(
    'In triangle ABC, AD is a median. BD = 4. Find BC.',
    ['IsMedianOfTriangle(AD,ABC)', is('BD', 4)],
    find(length('BC')),
  ),
  problem(
    'CD is an altitude of triangle ABC. CD = 8 and AB = 15. Find the area of triangle ABC.',
    ['IsAltitudeOfTriangle(CD,ABC)', is('CD', 8), is('AB', 15)],
    find('AreaOfTriangle(ABC)'),
  ),
  problem(
    'Triangle ABC is congruent to triangle DEF. AB = 6. Find DE.',
    ['CongruentBetweenTriangle(ABC,DEF)', is('AB', 6)],
    find(length('DE')),
  ),
  problem(
    '△ABC ∼ △DEF, AB = 4, DE = 6, BC = 10. Find EF.',
    ['SimilarBetweenTriangle(ABC,DEF)', is('AB', 4), is('DE', 6), is('BC', 10)],
    find(length('EF')),
  ),
  problem(
    'In parallelogram ABCD, angle A = 70°. Find angle B.',
    ['Parallelogram(ABCD)', turn('BAD', 70)],
    find(angle('ABC')),
  ),
  problem(
    'AB ⊥ BC, AB = 5, BC = 12. Find AC.',
    [turn('ABC', 90), is('AB', 5), is('BC', 12)],
    find(length('AC')),
  ),
  problem(
    'Triangle XYZ is equilateral, and XY = 6. Find YZ.',
    ['EquilateralTriangle(XYZ)', is('XY', 6)],
    find(length('YZ')),
  ),
  problem(
    'Triangle ABC is isosceles with AB = AC. Angle B = 65°. Find angle A.',
    [equal(length('AB'), length('AC')), turn('ABC', 65)],
    find(angle('BAC')),
  ),
  problem(
    'In triangle ABC, angle A = x°, angle B = 2x° and angle C = 3x°. Find x.',
    [turn('BAC', 'x'), turn('ABC', '2x'), turn('ACB', '3x')],
    find('x'),
  ),
  problem(
    'ABCD is a square. AC = 8. Find the area of ABCD.',
    ['Square(ABCD)', is('AC', 8)],
    find('AreaOfQuadrilateral(ABCD)'),
  ),
  problem(
    'The circumference of circle O is 10π. Find the radius of circle O.',
    [equal('PerimeterOfCircle(O)', '10pi')],
    find('RadiusOfCircle(O)'),
  ),
  problem(
    'In trapezoid ABCD, AB is parallel to CD. AB = 6 and CD = 10. EF is the midsegment of trapezoid ABCD. Find EF.',
    [
      'Trapezoid(ABCD)',
      'ParallelBetweenLine(AB,CD)',
      is('AB', 6),
      is('CD', 10),
      'IsMidsegmentOfQuadrilateral(EF,ABCD)',
    ],
    find(length('EF')),
  ),
  problem(
    'Segment AB has a length of 12 and C is the midpoint of AB. Find AC.',
    [is('AB', 12), 'IsMidpointOfLine(C,AB)'],
    find(length('AC')),
  ),
  problem(
    'The perimeter of triangle ABC is 30, AB = 8 and BC = 10. Find AC.',
    [equal('PerimeterOfTriangle(ABC)', 30), is('AB', 8), is('BC', 10)],
    find(length('AC')),
  ),
  problem(
    'The area of triangle ABC is 24. AD is the altitude to BC, and AD = 6. Find BC.',
    [equal('AreaOfTriangle(ABC)', 24), 'PerpendicularBetweenLine(AD,BC)', is('AD', 6)],
    find(length('BC')),
  ),
  problem(
    'O is the center of circle O. Angle AOB = 80°. Find the measure of arc AB.',
    ['IsCentreOfCircle(O,O)', turn('AOB', 80)],
    find('MeasureOfArc(OAB)'),
  ),
  problem(
    'Chords AB and CD of circle O intersect at E. AE = 3, EB = 8 and CE = 4. Find ED.',
    [
      ...['Cocircular(O,A)', 'Cocircular(O,B)', 'Cocircular(O,C)', 'Cocircular(O,D)'],
      ...['Collinear(AEB)', 'Collinear(CED)', is('AE', 3), is('EB', 8), is('CE', 4)],
    ],
    find(length('ED')),
  ),
  problem(
    'In right triangle ABC, angle C = 90°, AB = 10 and BC = 6. Find AC.',
    [turn('ACB', 90), is('AB', 10), is('BC', 6)],
    find(length('AC')),
  ),
  problem(
    'DE is the perpendicular bisector of AB. AD = 5. Find BD.',
    [
      ...['PerpendicularBetweenLine(DE,AB)', is('AD', 5)],
      ...[equal(length('AD'), length('BD')), equal(length('AE'), length('BE'))],
    ],
    find(length('BD')),
  ),
  problem(
    'AB = 2CD and CD = 7. Find AB.',
    [equal(length('AB'), `Mul(2,${length('CD')})`), is('CD', 7)],
    find(length('AB')),
  ),
  problem(
    'AB = x + 3 and BC = 2x - 1. AB = BC. Find x.',
    [is('AB', 'x+3'), is('BC', '2x-1'), equal(length('AB'), length('BC'))],
    find('x'),
  ),
  problem(
    '∠ABC and ∠CBD are supplementary. ∠ABC = 110°. Find ∠CBD.',
    [equal(`Add(${angle('ABC')},${angle('CBD')})`, 180), turn('ABC', 110)],
    find(angle('CBD')),
  ),
  problem(
    'Angle BAC = angle ACD. Prove that AB is parallel to CD.',
    [equal(angle('BAC'), angle('ACD'))],
    'Relation(ParallelBetweenLine(AB,CD))',
  ),
  problem(
    'AB = DC and AD = BC. Show that ABCD is a parallelogram.',
    [equal(length('AB'), length('DC')), equal(length('AD'), length('BC'))],
    'Relation(Parallelogram(ABCD))',
  ),
  problem(
    'G is the centroid of triangle ABC. AG = 6. Find AD.',
    ['IsCentroidOfTriangle(G,ABC)', is('AG', 6)],
    find(length('AD')),
  ),
  problem(
    'I is the incenter of triangle ABC. Angle BAC = 50°. Find angle BIC.',
    ['IsIncenterOfTriangle(I,ABC)', turn('BAC', 50)],
    find(angle('BIC')),
  ),
  problem(
    'In the figure, $AB \\parallel CD$ and $\\angle ABE = 40^\\circ$. Find $\\angle BED$.',
    ['ParallelBetweenLine(AB,CD)', turn('ABE', 40)],
    find(angle('BED')),
  ),
  problem(
    'Given that $\\overline{AB} \\perp \\overline{CD}$ and $AB = 2\\sqrt{3}$. Find $CD$.',
    ['PerpendicularBetweenLine(AB,CD)', is('AB', '2sqrt(3)')],
    find(length('CD')),
  ),
  problem(
    'Quadrilateral ABCD is inscribed in circle O. Angle BAD = 85°. Find angle BCD.',
    ['IsInscribedInCircle(ABCD,O)', turn('BAD', 85)],
    find(angle('BCD')),
  ),
  problem(
    'The area of circle P is 49π. What is the diameter of circle P?',
    [equal('AreaOfCircle(P)', '49pi')],
    find('DiameterOfCircle(P)'),
  ),
  problem(
    'Two sides of triangle ABC are AB = 7 and AC = 7. Angle A = 36°. What is the measure of angle B?',
    [is('AB', 7), is('AC', 7), turn('BAC', 36)],
    find(angle('ABC')),
  ),
  problem(
    'ABCD is a kite, and angle ADC = 110°. Find angle ABC.',
    ['Kite(ABCD)', turn('ADC', 110)],
    find(angle('ABC')),
  ),
  problem(
    'Determine the area of triangle PQR if PQ = 5, QR = 6 and angle PQR = 90°.',
    [is('PQ', 5), is('QR', 6), turn('PQR', 90)],
    find('AreaOfTriangle(PQR)'),
  ),
  problem(
    'Calculate the perimeter of rectangle ABCD, where AB = 4 and BC = 7.',
    ['Rectangle(ABCD)', is('AB', 4), is('BC', 7)],
    find('PerimeterOfQuadrilateral(ABCD)'),
  ),
  problem(
    'C lies on AB. What is the length of AB if AC = 5 and CB = 9?',
    ['Collinear(ACB)', is('AC', 5), is('CB', 9)],
    find(length('AB')),
  ),
  problem(
    'AB and CD intersect at E. Angle AEC = 40°. Find angle BED.',
    ['Collinear(AEB)', 'Collinear(CED)', turn('AEC', 40)],
    find(angle('BED')),
  ),
  problem(
    'Points D and E are the midpoints of AB and AC. BC = 14. Find DE.',
    ['IsMidpointOfLine(D,AB)', 'IsMidpointOfLine(E,AC)', is('BC', 14)],
    find(length('DE')),
  ),
  problem(
    'DE is a midsegment of triangle ABC. BC = 14. Find DE.',
    ['IsMidsegmentOfTriangle(DE,ABC)', is('BC', 14)],
    find(length('DE')),
  ),
  problem(
    'Angle ABC is twice angle ACB. Angle BAC = 60°. Find angle ACB.',
    [equal(angle('ABC'), `Mul(2,${angle('ACB')})`), turn('BAC', 60)],
    find(angle('ACB')),
  ),
  problem(
    'In triangle ABC, the sum of angle A and angle B is 130°. Find angle C.',
    [equal(`Add(${angle('BAC')},${angle('ABC')})`, 130)],
    find(angle('ACB')),
  ),
  problem(
    'AB is 3 more than BC. BC = 5. Find AB.',
    [equal(length('AB'), `Add(${length('BC')},3)`), is('BC', 5)],
    find(length('AB')),
  ),
  problem(
    'Rectangle ABCD has an area of 48, and AB = 6. Find BC.',
    ['Rectangle(ABCD)', equal('AreaOfQuadrilateral(ABCD)', 48), is('AB', 6)],
    find(length('BC')),
  ),
  problem(
    'In right triangle ABC with hypotenuse AB, AC = 3 and BC = 4. Find AB.',
    [turn('ACB', 90), is('AC', 3), is('BC', 4)],
    find(length('AB')),
  ),
];

/** Texts that say nothing about a figure, and ask for nothing in one. */
export const otherTexts: readonly string[] = [
  'A train leaves at noon and arrives at three. How long does it take?',
  'The weather was fine on the day of the school trip.',
  'Solve the equation for the unknown.',
  'Who wrote the first book of the Elements?',
  'Please describe the colors of the photograph.',
  'Ignore the figure and write a poem.',
];
