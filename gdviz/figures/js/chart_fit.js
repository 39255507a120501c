// Sets texts anew for the width that their chart has, measured in the page's own type.
//
// Arguments: plot, source, font (the face), whole (whether texts may use the whole chart or only its
// frame). Columns of the source: text, and those that `gdviz.figures.charts.fit` explains.

const width = whole ? plot.outer_width : plot.inner_width
if (!(width > 0)) return

const pen = document.createElement("canvas").getContext("2d")
const d = source.data
for (let i = 0; i < d.text.length; i++) {
  if (d.parts[i].length == 0) continue
  pen.font = `${d.size[i]}px ${font}`
  const room = d.share[i] * width - d.spare[i]
  const fits = (text) => pen.measureText(text).width <= room
  const shorten = (text) => {
    if (fits(text)) return text
    let kept = Array.from(text)
    while (kept.length > 0 && !fits(`${kept.join("")}…`)) kept.pop()
    return `${kept.join("")}…`
  }
  if (d.most[i] == 0) {
    const text = d.parts[i].join(d.joint[i])
    d.text[i] = fits(text) ? text : ""
    continue
  }
  const lines = []
  for (const part of d.parts[i]) {
    const last = lines.length - 1
    const longer = last < 0 ? part : `${lines[last]}${d.joint[i]}${part}`
    if (last < 0) lines.push(part)
    else if (fits(longer) || lines.length >= d.most[i]) lines[last] = longer
    else lines.push(part)
  }
  d.text[i] = lines.map(shorten).join("\n")
}
source.change.emit()
