import { Token } from '@lumino/coreutils';

import { BokehJS } from './bokehjs';

/** The page's BokehJS, or null where it could not be loaded. */
export const IBokeh = new Token<BokehJS | null>(
  'gdviz-lab:IBokeh',
  "The page's BokehJS, or null where it could not be loaded."
);
