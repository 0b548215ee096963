export { remote } from '@saccade/tool-service';
