export { callsOfSessions, listedCalls, runExercises } from './record.ts';
