/**
 * BokehJS from the Bokeh beside the Jupyter server.
 *
 * Its activation ends when the scripts have run, so that a notebook restored with the page finds them.
 */

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import {
  ITranslator,
  nullTranslator,
  TranslationBundle
} from '@jupyterlab/translation';

import { BokehJS, muteEchoes } from '../bokehjs';
import { page } from '../page';
import { IBokeh } from '../tokens';

interface ServerBokeh {
  version: string;
  scripts: string[];
}

/** A page that waits longer than this for a script starts without it. */
const PATIENCE_MS = 20000;

async function askServer(
  settings: ServerConnection.ISettings
): Promise<ServerBokeh> {
  const url = URLExt.join(settings.baseUrl, 'gdviz', 'bokeh-version');
  const response = await ServerConnection.makeRequest(url, {}, settings);
  if (!response.ok) {
    throw new ServerConnection.ResponseError(response);
  }
  return response.json();
}

function loadScript(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const late = setTimeout(
      () => reject(new Error(`no answer from ${url}`)),
      PATIENCE_MS
    );
    script.src = url;
    script.async = false;
    script.onload = () => {
      clearTimeout(late);
      resolve();
    };
    script.onerror = () => {
      clearTimeout(late);
      reject(new Error(`could not load ${url}`));
    };
    document.head.appendChild(script);
  });
}

async function loadBokeh(
  server: ServerBokeh,
  settings: ServerConnection.ISettings
): Promise<BokehJS> {
  // Another extension's BokehJS stays: the first one on a page is the one that renders.
  if (window.Bokeh === undefined) {
    const version = encodeURIComponent(server.version);
    const urls = server.scripts.map(
      name =>
        `${URLExt.join(settings.baseUrl, 'gdviz', 'bokeh', name)}?v=${version}`
    );
    await Promise.all(urls.map(loadScript));
  }
  if (window.Bokeh === undefined) {
    throw new Error('the scripts ran, but left no Bokeh');
  }
  return window.Bokeh;
}

function sayDifference(
  trans: TranslationBundle,
  onPage: string,
  onServer: string
): void {
  Notification.warning(
    trans.__(
      'This page has BokehJS %1, loaded by something else; the Jupyter server has Bokeh %2. ' +
        "gdviz's figures may fail to show. Reload the page, or install the same Bokeh everywhere.",
      onPage,
      onServer
    ),
    { autoClose: false }
  );
}

export const bokehPlugin: JupyterFrontEndPlugin<BokehJS | null> = {
  id: 'gdviz-lab:bokeh',
  description: "Loads BokehJS from the Jupyter server's own Bokeh.",
  autoStart: true,
  provides: IBokeh,
  optional: [ITranslator],
  activate: async (
    app: JupyterFrontEnd,
    translator: ITranslator | null
  ): Promise<BokehJS | null> => {
    const trans = (translator ?? nullTranslator).load('gdviz_lab');
    const settings = app.serviceManager.serverSettings;
    try {
      const server = await askServer(settings);
      page().server = server.version;
      const bokeh = await loadBokeh(server, settings);
      page().bokeh = bokeh.version;
      muteEchoes(bokeh);
      if (bokeh.version !== server.version) {
        sayDifference(trans, bokeh.version, server.version);
      }
      return bokeh;
    } catch (reason) {
      Notification.error(
        trans.__(
          "BokehJS could not be loaded from this Jupyter server (%1), so gdviz's figures will not show. " +
            'Check with "jupyter server extension list" that gdviz_lab is enabled, then reload the page.',
          String(reason)
        ),
        { autoClose: false }
      );
      return null;
    }
  }
};
