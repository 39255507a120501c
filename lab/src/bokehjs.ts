/**
 * The few parts of BokehJS that gdviz-lab touches, as types, and what it mends there.
 */

export interface BokehModel {
  id: string;
  tags: unknown[];
  properties: Record<string, { get_value(): unknown } | undefined>;
  setv(values: Record<string, unknown>, options?: { sync?: boolean }): void;
}

export interface BokehEvent {
  kind?: string;
  sync?: boolean;
  events?: BokehEvent[];
}

type OnChange = (event: BokehEvent) => void;

export interface BokehDocument {
  all_models: Iterable<BokehModel>;
  on_change(callback: OnChange, allowBatches?: boolean): void;
  remove_on_change(callback: OnChange): void;
  apply_json_patch(patch: { events: BokehEvent[] }, ...rest: unknown[]): void;
}

interface DocumentClass {
  prototype: BokehDocument;
  from_json(...args: unknown[]): BokehDocument;
}

export interface BokehJS {
  version: string;
  documents: BokehDocument[];
  require(name: 'document'): { Document: DocumentClass };
}

function isQuiet(event: BokehEvent): boolean {
  if (event.events !== undefined) {
    return event.events.every(isQuiet);
  }
  return event.sync === false && event.kind === 'ModelChanged';
}

/**
 * Keep property changes that are marked `sync: false` (those that came from the kernel, and a change of
 * look) from being sent to the kernel.
 *
 * jupyter_bokeh 4.1 sends every change event, also those marked so. BokehJS's own listeners here only
 * look at roots and the title, which pass. Streamed rows still return: gdviz takes them as the page's
 * answer that it has drawn them (see `Pace` in gdviz/widgets/live.py).
 */
export function muteEchoes(bokeh: BokehJS): void {
  const { prototype } = bokeh.require('document').Document;
  const { on_change, remove_on_change } = prototype;
  const wrapped = new WeakMap<OnChange, OnChange>();

  prototype.on_change = function (callback, allowBatches) {
    let quiet = wrapped.get(callback);
    if (quiet === undefined) {
      quiet = event => {
        if (!isQuiet(event)) {
          callback(event);
        }
      };
      wrapped.set(callback, quiet);
    }
    on_change.call(this, quiet, allowBatches);
  };
  prototype.remove_on_change = function (callback) {
    remove_on_change.call(this, wrapped.get(callback) ?? callback);
  };
}

/**
 * Call `visit` with every document before it is first drawn, and after each patch from the kernel that
 * changed more than data.
 */
export function onDocuments(
  bokeh: BokehJS,
  visit: (document: BokehDocument) => void
): void {
  const { Document } = bokeh.require('document');
  const { from_json } = Document;
  const { apply_json_patch } = Document.prototype;

  Document.from_json = function (...args) {
    const document = from_json.apply(this, args);
    visit(document);
    return document;
  };
  Document.prototype.apply_json_patch = function (patch, ...rest) {
    apply_json_patch.call(this, patch, ...rest);
    const onlyData = patch.events.every(
      event =>
        event.kind === 'ColumnsStreamed' ||
        event.kind === 'ColumnsPatched' ||
        event.kind === 'ColumnDataChanged' ||
        event.kind === 'MessageSent'
    );
    if (!onlyData) {
      visit(this);
    }
  };
}
