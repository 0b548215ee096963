/** Problems in Inter-GPS's logic forms and FormalGeo's language, with answers worked out by hand. */

export interface FormalProblem {
  readonly statements: readonly string[];
  readonly answer: number;
}

const triangle = 'Triangle(A,B,C)';

export const formalProblems: readonly FormalProblem[] = [
  {
    statements: [
      ...[triangle, 'Perpendicular(Line(A,B),Line(B,C))', 'Equals(LengthOf(Line(A,B)),2)'],
      ...['Equals(LengthOf(Line(B,C)),3)', 'Find(LengthOf(Line(A,C)))'],
    ],
    answer: Math.sqrt(13),
  },
  {
    statements: [
      ...[triangle, 'Equals(LengthOf(Line(A,B)),LengthOf(Line(A,C)))'],
      ...['Equals(MeasureOf(Angle(A,B,C)),71)', 'Find(MeasureOf(Angle(B,A,C)))'],
    ],
    answer: 38,
  },
  {
    statements: [
      ...[triangle, 'Equals(MeasureOf(Angle(B,A,C)),5x)', 'Equals(MeasureOf(Angle(A,B,C)),4x)'],
      ...['Equals(MeasureOf(Angle(A,C,B)),3x)', 'Find(x)'],
    ],
    answer: 15,
  },
  {
    statements: [
      ...['Shape(AB,BC,CA)', 'Equal(MeasureOfAngle(ABC),90)', 'Equal(MeasureOfAngle(BCA),30)'],
      ...['Equal(LengthOfLine(AB),7)', 'Value(LengthOfLine(AC))'],
    ],
    answer: 14,
  },
  {
    statements: [
      ...['Shape(AB,BC,CA)', 'Equal(LengthOfLine(AB),7)', 'Equal(LengthOfLine(BC),8)'],
      ...['Equal(MeasureOfAngle(ABC),60)', 'Value(LengthOfLine(AC))'],
    ],
    answer: Math.sqrt(57),
  },
  {
    statements: [
      ...['Shape(AB,BC,CA)', 'Equal(LengthOfLine(AB),13)', 'Equal(LengthOfLine(BC),14)'],
      ...['Equal(LengthOfLine(CA),15)', 'Value(AreaOfTriangle(ABC))'],
    ],
    answer: 84,
  },
  {
    statements: [
      ...['Shape(AB,BC,CD,DA)', 'Rhombus(ABCD)', 'Equal(LengthOfLine(AB),9)'],
      'Value(PerimeterOfQuadrilateral(ABCD))',
    ],
    answer: 36,
  },
  {
    statements: [
      ...['Shape(AB,BC,CA)', 'Shape(DE,EF,FD)', 'SimilarBetweenTriangle(ABC,DEF)'],
      ...['Equal(LengthOfLine(AB),4)', 'Equal(LengthOfLine(DE),6)', 'Equal(LengthOfLine(BC),10)'],
      'Value(LengthOfLine(EF))',
    ],
    answer: 15,
  },
];
