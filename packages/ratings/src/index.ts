export {
  type MeasureRatingsOptions,
  type ModelMean,
  type ModelPair,
  measureRatings,
  type RaterAgreement,
  type RatingResults,
} from './measure-ratings.ts';
export { openSource, type RatedSource, ratedIn, type SourceOptions } from './rated-source.ts';
export { drawRatingCsv } from './rating-csv.ts';
export { type Rating, ratingColumns, readRatings } from './rating-files.ts';
export { drawRatingPage, type FindTrajectory, type ShownTrajectory } from './rating-page.ts';
export { ratingTables } from './rating-tables.ts';
export {
  type Choice,
  pairChoices,
  parseStudyKey,
  planStudy,
  type RatedTrajectory,
  type StudyItem,
  type StudyKey,
  type StudyMode,
  type StudyOptions,
  scaleChoices,
} from './study.ts';
