"""From running the cell to the first path picture on the screen"""

from __future__ import annotations

from lab_page import LabPage
from report import Report
from scene import write_notebook

CELL = "import gdviz\nlab = gdviz.lab()\ngdviz.MachinePanel(lab)"

#: Runs the cell and returns the milliseconds to the end of its execution and to the painted picture.
TIMED = """
async () => {
  const start = performance.now()
  const times = {}
  const ran = window.jupyterapp.commands.execute('notebook:run-all-cells')
  void ran.then(() => { times.executed = performance.now() - start })
  const frame = () => new Promise(done => requestAnimationFrame(done))
  for (;;) {
    await frame()
    const documents = window.Bokeh?.documents ?? []
    if (documents.some(d => d.roots().length > 0 && d.is_idle)) break
    if (performance.now() - start > 60000) throw new Error('no picture after a minute')
  }
  await frame()
  await new Promise(done => setTimeout(done))
  times.painted = performance.now() - start
  await ran
  return times
}
"""


def test_first_figure(lab_page: LabPage, report: Report, repeats: int) -> None:
    executed, painted, again = [], [], []
    for number in range(repeats):
        if number:
            lab_page.reload()
        lab_page.open(write_notebook(lab_page, f"first-{number}", [CELL]))
        lab_page.page.wait_for_timeout(1500)
        times = lab_page.page.evaluate(TIMED)
        executed.append(times["executed"] / 1000)
        painted.append(times["painted"] / 1000)
        lab_page.execute("notebook:clear-all-cell-outputs")
        lab_page.tell_kernel("lab.close()")
        again.append(lab_page.page.evaluate(SECOND)["painted"] / 1000)
        lab_page.server.end_kernels()
    report.add("fresh kernel: cell run to picture painted", painted, "s", below=3)
    report.add("  of that, the cell in the kernel", executed, "s")
    report.add("same kernel, cell run again", again, "s", below=3)
    # The console has words about kernels that were ended under the page; only strangers would be a fault.
    assert not lab_page.elsewhere


SECOND = TIMED.replace(
    "const start = performance.now()",
    "const old = new Set(window.Bokeh?.documents ?? [])\n  const start = performance.now()",
).replace("documents.some(d =>", "documents.some(d => !old.has(d) &&")
