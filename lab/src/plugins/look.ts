/**
 * Figures in the page's look: light or dark as the JupyterLab theme is.
 */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IThemeManager } from '@jupyterlab/apputils';

import { BokehJS, onDocuments } from '../bokehjs';
import { page } from '../page';
import { Look, paintDocument } from '../paint';
import { IBokeh } from '../tokens';

function lookOf(themes: IThemeManager): Look {
  // Before the first theme has loaded there is none; JupyterLab starts light.
  return themes.theme === null || themes.isLight(themes.theme)
    ? 'light'
    : 'dark';
}

export const lookPlugin: JupyterFrontEndPlugin<void> = {
  id: 'gdviz-lab:look',
  description: "Gives gdviz's figures the colours of the current theme.",
  autoStart: true,
  optional: [IBokeh, IThemeManager],
  activate: (
    _app: JupyterFrontEnd,
    bokeh: BokehJS | null,
    themes: IThemeManager | null
  ): void => {
    if (bokeh === null || themes === null) {
      return;
    }
    page().look = lookOf(themes);
    onDocuments(bokeh, document => paintDocument(document, page().look));
    themes.themeChanged.connect(() => {
      page().look = lookOf(themes);
      for (const document of bokeh.documents) {
        paintDocument(document, page().look);
      }
    });
  }
};
