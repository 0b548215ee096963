export { cuda } from '@saccade/backend-native/units';
