// Lets Escape free every choice while the pointer is over the picture: sent to the kernel as a Reset event.
//
// Arguments: plot. Runs each time that the pointer enters the picture; the listener is added once.

const HEARD = (window.gdviz_escape ??= new WeakSet())
if (!HEARD.has(plot)) {
  HEARD.add(plot)
  const {Reset} = window.Bokeh.require("core/bokeh_events")
  document.addEventListener("keydown", event => {
    const view = window.Bokeh.index.find_one?.(plot) ?? null
    const over = view == null || view.el.matches(":hover")
    if (event.key == "Escape" && plot.document != null && over) {
      plot.trigger_event(new Reset())
    }
  })
}
