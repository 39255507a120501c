/**
 * Two looks noted in a Bokeh model's tags, as `gdviz.figures.theme.paint` writes them.
 */

import { BokehDocument, BokehModel } from './bokehjs';

export type Look = 'light' | 'dark';

type Looks = Record<Look, Record<string, unknown>>;

/** The key in a model's tags: `TAG` in gdviz/figures/theme.py. */
const TAG = 'gdviz_look';

function looksOf(model: BokehModel): Looks | undefined {
  for (const tag of model.tags ?? []) {
    // BokehJS hands over Python's dicts as plain objects or as Maps.
    const found = get(tag, TAG);
    if (found !== undefined) {
      return {
        light: plain(get(found, 'light')),
        dark: plain(get(found, 'dark'))
      };
    }
  }
  return undefined;
}

function get(from: unknown, key: string): unknown {
  if (from instanceof Map) {
    return from.get(key);
  }
  if (typeof from === 'object' && from !== null) {
    return (from as Record<string, unknown>)[key];
  }
  return undefined;
}

function plain(from: unknown): Record<string, unknown> {
  if (from instanceof Map) {
    return Object.fromEntries(from);
  }
  return (from as Record<string, unknown> | undefined) ?? {};
}

/** Whether two colours, or two palettes, are the same. */
function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return (
      one.length === other.length &&
      one.every((item, index) => item === other[index])
    );
  }
  return one === other;
}

/** The colour that a property holds; a specification gives its value. */
function current(model: BokehModel, name: string): unknown {
  const value = model.properties[name]?.get_value();
  return get(value, 'value') ?? value;
}

/**
 * Bring a document's painted models to a look.
 *
 * Only a property that still holds the other look's colour changes: what the kernel has set to
 * something else on purpose stays. Nothing is sent to the kernel, which goes on thinking in the light
 * look.
 */
export function paintDocument(document: BokehDocument, look: Look): void {
  const other: Look = look === 'light' ? 'dark' : 'light';
  for (const model of document.all_models) {
    const looks = looksOf(model);
    if (looks === undefined) {
      continue;
    }
    const changed: Record<string, unknown> = {};
    for (const [name, colour] of Object.entries(looks[look])) {
      const before = looks[other][name];
      if (!same(before, colour) && same(current(model, name), before)) {
        changed[name] = colour;
      }
    }
    if (Object.keys(changed).length > 0) {
      model.setv(changed, { sync: false });
    }
  }
}
