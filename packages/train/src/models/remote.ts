export { remote } from '@saccade/tinker';
