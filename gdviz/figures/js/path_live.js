// Moves a lit path's marks and fills its tubes from the newest row of a live source, in the browser alone:
// nothing is sent back. Follows the rules of gdviz/figures/lit.py.
//
// Arguments: live (the shared source), column, lit, marks (the picture's sources), spacing (pixels from
// mark to mark), words (what a tooltip says of a load).

const MOTIONS = (window.gdviz_motions ??= new WeakMap())
const TICK_MS = 110
// A live source that is silent for so long has ended.
const SILENCE_MS = 2500
// Of a share: a tube is at most 12 pixels wide.
const SMALLEST_CHANGE = 0.004
// Pixels a second: at full load a third of the spacing a tick, so that the eye still follows each mark.
const SLOWEST = 14
const FASTEST = spacing / 3 / (TICK_MS / 1000)

let motion = MOTIONS.get(marks)
if (motion == null) {
  motion = {phase: 0, speed: 0, timer: null, last: 0, tick: 0}
  MOTIONS.set(marks, motion)
}

function bar(x0, y0, x1, y1, thickness, before, after) {
  const half = thickness / 2
  const b = before ? half : 0
  const a = after ? half : 0
  if (Math.abs(x1 - x0) >= Math.abs(y1 - y0)) {
    return x1 >= x0 ? [x0 - b, y0 - half, x1 + a, y0 + half] : [x1 - a, y0 - half, x0 + b, y0 + half]
  }
  return y1 >= y0 ? [x0 - half, y0 - b, x0 + half, y1 + a] : [x0 - half, y1 - a, x0 + half, y0 + b]
}

// What no eye could tell from what is filled is not painted anew.
function same(shares) {
  const before = motion.filled
  return (
    before !== undefined &&
    Object.is(before.data, lit.data) &&
    before.shares.length === shares.length &&
    shares.every((share, i) => Math.abs(share - before.shares[i]) < SMALLEST_CHANGE)
  )
}

function fill(shares) {
  const d = lit.data
  for (let i = 0; i < d.segment.length; i++) {
    const share = Math.min(1, Math.max(0, Number(shares[d.segment[i]] ?? 0) || 0))
    const [l, t, r, b] = bar(d.x0[i], d.y0[i], d.x1[i], d.y1[i], (d.tube[i] + 1.2) * share, d.before[i], d.after[i])
    d.cl[i] = l
    d.ct[i] = t
    d.cr[i] = r
    d.cb[i] = b
    d.detail[i] = words.replace("{percent}", Math.round(share * 100)).replace("{rate}", d.carries[i])
  }
  motion.filled = {data: d, shares}
  lit.change.emit()
}

function place() {
  const d = lit.data
  const m = marks.data
  const size = m.size.length > 0 ? m.size[0] : 9
  const rows = {x: [], y: [], angle: [], size: [], role: [], segment: []}
  let at = (motion.phase % spacing) - spacing / 2
  for (let i = 0; i < d.segment.length; i++) {
    const dx = d.x1[i] - d.x0[i]
    const dy = d.y1[i] - d.y0[i]
    const length = Math.abs(dx) + Math.abs(dy)
    while (at < 0) {
      at += spacing
    }
    for (; at < length; at += spacing) {
      rows.x.push(d.x0[i] + (dx * at) / length)
      rows.y.push(d.y0[i] + (dy * at) / length)
      rows.angle.push(Math.atan2(-dy, dx) - Math.PI / 2)
      rows.size.push(size)
      rows.role.push(d.role[i])
      rows.segment.push(d.segment[i])
    }
    at -= length
  }
  for (const name of Object.keys(rows)) {
    m[name] = rows[name]
  }
  marks.change.emit()
}

function stop() {
  if (motion.timer != null) {
    clearInterval(motion.timer)
    motion.timer = null
  }
}

function step() {
  const now = performance.now()
  if (now - motion.last > SILENCE_MS || motion.speed == 0) {
    stop()
    return
  }
  if (document.hidden) {
    motion.tick = now
    return
  }
  motion.phase += (motion.speed * Math.min(500, now - motion.tick)) / 1000
  motion.tick = now
  place()
}

const rows = live.data[column]
if (rows != null && rows.length > 0 && lit.data.segment.length > 0) {
  const shares = Array.from(rows[rows.length - 1] ?? [], share => Number(share) || 0)
  const most = shares.reduce((found, share) => Math.max(found, share), 0)
  motion.last = performance.now()
  motion.speed = most > 0.001 ? SLOWEST + (FASTEST - SLOWEST) * Math.min(1, most) : 0
  if (!same(shares)) {
    fill(shares)
  }
  if (motion.speed == 0) {
    stop()
  } else if (motion.timer == null) {
    motion.tick = motion.last
    motion.timer = setInterval(step, TICK_MS)
  }
}
