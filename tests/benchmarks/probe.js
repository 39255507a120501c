// What a page does with live figures: when rows arrive, when they are painted, what is painted how often.
// Put into the page by scene.py; everything it finds is in window.gdviz_probe.
() => {
  if (window.gdviz_probe) return
  const probe = {rows: [], paints: {}, spent: {}, sources: 0, shift: 0}
  window.gdviz_probe = probe
  const hooked = new WeakSet()

  // A frame after the one in which Bokeh draws, that drawing is on its way to the screen.
  const painted = act => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(act)))

  const hook = source => {
    if (hooked.has(source) || !('at' in source.data)) return
    hooked.add(source)
    probe.sources += 1
    source.streaming.connect(() => {
      const arrived = Date.now()
      const d = source.data
      const last = d.at.length - 1
      const row = {at: Number(d.at[last]), t: Number(d.t[last]), arrived}
      painted(() => {
        row.painted = Date.now()
        probe.rows.push(row)
      })
    })
  }

  const views = function* (view) {
    yield view
    for (const child of view.children_views?.() ?? []) yield* views(child)
  }

  const count = view => {
    if (hooked.has(view) || typeof view._actual_paint !== 'function') return
    hooked.add(view)
    const name = view.model.name ?? view.model.title?.text ?? 'path picture'
    const inner = {primary: view._paint_primary, overlays: view._paint_overlays}
    for (const [part, paint] of Object.entries(inner)) {
      const key = `${name}: ${part}`
      probe.paints[key] = 0
      probe.spent[key] = 0
      view[`_paint_${part}`] = function (...args) {
        const start = performance.now()
        const value = paint.apply(this, args)
        probe.paints[key] += 1
        probe.spent[key] += performance.now() - start
        return value
      }
    }
  }

  probe.look = () => {
    for (const document of window.Bokeh?.documents ?? []) {
      for (const model of document._all_models?.values() ?? []) {
        if (model.type === 'ColumnDataSource') hook(model)
      }
      for (const root of document.roots()) {
        const view = document.views_manager?.get(root) ?? window.Bokeh.index.get?.(root)
        if (view) for (const one of views(view)) count(one)
      }
    }
    return probe.sources
  }
}
