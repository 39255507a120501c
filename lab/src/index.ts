import { bokehPlugin } from './plugins/bokeh';
import { lookPlugin } from './plugins/look';

export default [bokehPlugin, lookPlugin];
