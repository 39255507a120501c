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

/** Kinds of event by which data and properties change; the others build or name the document. */
const CHANGES = new Set([
  'ModelChanged',
  'ColumnDataChanged',
  'ColumnsStreamed',
  'ColumnsPatched'
]);

function isQuiet(event: BokehEvent): boolean {
  if (event.events !== undefined) {
    return event.events.every(isQuiet);
  }
  return event.sync === false && CHANGES.has(event.kind ?? '');
}

/**
 * Keep changes that came from the kernel (BokehJS marks them `sync: false`) from going back to it.
 *
 * jupyter_bokeh 4.1 sends every change event, also those marked so: each streamed row returns to the
 * kernel. BokehJS itself only listens here for roots and the title, which pass.
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
