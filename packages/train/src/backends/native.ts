export { native } from '@saccade/backend-native/units';
