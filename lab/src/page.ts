/**
 * What gdviz-lab leaves on the page for other scripts and for tests: `window.gdviz`.
 */

import { BokehJS } from './bokehjs';
import { Look } from './paint';

export interface Page {
  /** Version of the BokehJS on this page; empty when it could not be loaded. */
  bokeh: string;
  /** Version of the Bokeh beside the server; empty when the server did not say. */
  server: string;
  look: Look;
}

declare global {
  interface Window {
    Bokeh?: BokehJS;
    gdviz?: Page;
  }
}

export function page(): Page {
  window.gdviz ??= { bokeh: '', server: '', look: 'light' };
  return window.gdviz;
}
