// Rows to mark with a dot: the newest one, and those that a line cannot show because both neighbours
// are gaps. Runs in the page, so that marking costs no message.
const values = source.data[column]
const last = values.length - 1
const marked = []
for (let row = 0; row <= last; row++) {
  if (!Number.isFinite(values[row])) continue
  const alone = !Number.isFinite(values[row - 1] ?? NaN) && !Number.isFinite(values[row + 1] ?? NaN)
  if (row === last || alone) marked.push(row)
}
return marked
