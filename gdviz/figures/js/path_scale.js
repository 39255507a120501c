// Keeps type and marks in proportion to the picture, whose shapes are in its own pixels.
//
// Arguments: plot, texts (sources of labels), chips (sources of labels on a ground), marks, width (the
// picture's own), smallest (pixels of type below which a label is left out where it does not fit).

const scale = plot.inner_width > 0 ? plot.inner_width / width : 1

for (const source of [...texts, ...chips]) {
  const d = source.data
  for (let i = 0; i < d.size.length; i++) {
    const size = Math.max(smallest, d.size[i] * scale)
    d.font_size[i] = `${size.toFixed(1)}px`
    if (d.alpha != null) {
      // Type that may not shrink further would run out of its box.
      const grown = size / (d.size[i] * scale)
      const second = d.style[i] == "normal" && grown > 1.2
      const wide = grown > 1.12 && d.bulk[i] * size > d.room[i] * scale
      d.alpha[i] = second || wide ? 0 : 1
    }
  }
  source.change.emit()
}
const m = marks.data
for (let i = 0; i < m.size.length; i++) {
  m.size[i] = 9 * Math.max(0.7, scale)
}
marks.change.emit()
