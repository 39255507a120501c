"""Step 4, Transfer: send messages by the direct or the staged path and watch them."""

from __future__ import annotations

from typing import Any

import ipywidgets as w

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model import DataPath, Op, predict
from gdviz.quantities import (
    format_count,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_size,
    three_digits,
)
from gdviz.rdma import TransferSpec, WcStatus
from gdviz.session import Buffer, MemoryRegion, Session, Topic, Transfer
from gdviz.widgets.pair import any_pair, ensure_pair, offer_ends
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls, button, labelled, path_choice, table
from gdviz.widgets.stage import Stage

#: Ways to break a rule, each with the status that the rule's breach completes with.
MISTAKES = {
    _("none"): "",
    _("wrong rkey"): "rkey",
    _("past the end"): "bounds",
    _("no receives (send)"): "receives",
}

_WRONG_RKEY_BITS = 0x5A5A00

#: Messages simulated for the preview, which shows no tail.
_PREVIEWED = 500


class TransferPanel(Panel):
    """Start, watch and stop a transfer."""

    title = _("Transfer")
    live = True

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls."""
        self.local = labelled(_("From"), w.Dropdown)
        self.remote = labelled(_("To"), w.Dropdown)
        self.path = path_choice()
        self.op = labelled(_("Operation"), w.Dropdown, options=[o.value for o in Op])
        self.size = labelled(_("Message"), w.Text, value="64 KiB", continuous_update=False)
        self.depth = labelled(_("Queue depth"), w.BoundedIntText, value=64, min=1, max=8192)
        self.qps = labelled(_("Queue pairs"), w.BoundedIntText, value=4, min=1, max=256)
        self.limit = labelled(_("For"), w.Text, value="10 s", continuous_update=False)
        self.limit.tooltip = _("A duration such as '10 s', or a number of messages")
        self.mistake = labelled(_("Break a rule"), w.Dropdown, options=list(MISTAKES))
        self.progress = w.FloatProgress(min=0.0, max=1.0, layout=w.Layout(width="100%"))
        self.start_button = button(_("Start"), lambda: self.controls.act(self._start()), main=True)
        self.stop_button = button(_("Stop"), self._stop)
        self.stop_button.disabled = True
        self.result = w.HTML()
        self.controls = Controls(
            session,
            [
                self.path,
                self.local,
                self.remote,
                self.op,
                self.size,
                self.depth,
                self.qps,
                self.limit,
                self.mistake,
                w.HBox([self.start_button, self.stop_button]),
                self.progress,
                self.result,
            ],
        )
        self.transfer: Transfer | None = None
        self._unwatch += [
            session.watch(Topic.OBJECTS, lambda _news: self._refresh()),
            session.watch(Topic.TRANSFERS, self._on_transfer),
            session.watch(Topic.SAMPLES, lambda _news: self._show_progress()),
        ]
        for control in (self.path, self.local, self.remote, self.op, self.size, self.depth, self.qps):
            control.observe(lambda _change: self._later(self._preview), "value")
        self.mistake.observe(self._on_mistake, "value")
        self._later(self._refresh)

    def enter(self) -> None:
        """Show the path and the live charts."""
        self.stage.on_click(None)
        self.stage.show_charts(True)
        spoken = [t for t in self.session.state.transfers.values() if not t.quiet]
        if spoken:
            self.stage.show_transfer(spoken[-1], keep_samples=True)
        else:
            self.stage.picture.clear()
            self._preview()

    def _refresh(self) -> None:
        offer_ends(self.session, self.local, self.remote)
        if not self.session.state.regions:
            self.controls.message.say(
                _("No memory regions yet: Start makes a pair of 64 MiB on GPU 0 of both nodes.")
            )

    def _on_mistake(self, change: dict[str, Any]) -> None:
        if MISTAKES[change["new"]] == "receives":
            # Only a send needs a receive.
            self.op.value = Op.SEND.value

    def _preview(self) -> None:
        """Light the path that is chosen, before anything runs."""
        local, remote = self.local.value, self.remote.value
        if local is None or remote is None or (self.transfer and not self.transfer.done.done()):
            return
        try:
            work = self._spec(local, remote).workload
        except GdvizError:
            return  # half typed; Start says what is wrong
        state = self.session.state
        ends = (state.endpoint(local), state.endpoint(remote))
        self.stage.picture.show_transfer(*ends, work.path, predict(*ends, work, messages=_PREVIEWED))

    def _spec(self, _local: MemoryRegion | Buffer, remote: MemoryRegion | Buffer) -> TransferSpec:
        text = self.limit.value.strip()
        count = int(text) if text.isdecimal() and len(text) < 20 else None
        size = parse_size(self.size.value)
        mistake = MISTAKES[self.mistake.value]
        length, rkey = (
            (remote.length, remote.rkey) if isinstance(remote, MemoryRegion) else (remote.size_bytes, 0)
        )
        return TransferSpec(
            op=Op(self.op.value),
            path=DataPath(self.path.value),
            size_bytes=size,
            depth=self.depth.value,
            qps=self.qps.value,
            count=count,
            duration_s=None if count else parse_duration(text),
            remote_offset=length - size + 1 if mistake == "bounds" else 0,
            rkey=rkey ^ _WRONG_RKEY_BITS if mistake == "rkey" else None,
            post_receives=mistake != "receives",
        )

    async def _start(self) -> None:
        if self.transfer is not None and not self.transfer.done.done():
            raise GdvizError(_("A transfer is running."), _("Stop it first."))
        local, remote = self.local.value, self.remote.value
        if local is None or remote is None:
            if self.path.value == DataPath.STAGED.value:
                pair = await any_pair(self.session)
                local, remote = pair.local, pair.remote
            else:
                local, remote = await ensure_pair(self.session)
            self._refresh()
        self.transfer = await self.session.state.start(local, remote, self._spec(local, remote))
        self.controls.message.say("")

    def _stop(self) -> None:
        if self.transfer is not None:
            self.controls.act(self.session.state.stop(self.transfer))

    def _on_transfer(self, transfer: object) -> None:
        if not isinstance(transfer, Transfer) or transfer.quiet:
            return
        self.transfer = transfer
        running = not transfer.done.done()
        self.start_button.disabled = running
        self.stop_button.disabled = not running
        self._show_progress()
        self.result.value = "" if running else result_table(transfer)
        if not running:
            good = transfer.result is not None and transfer.result.status is WcStatus.SUCCESS
            tell = self.controls.message.say if good else self.controls.message.fail
            tell(ended_sentence(transfer))

    def _show_progress(self) -> None:
        if self.transfer is not None and not self.transfer.quiet:
            self.progress.value = self.transfer.progress


def ended_sentence(transfer: Transfer) -> str:
    """Return one sentence on how a transfer ended."""
    result = transfer.result
    if result is None:
        return _("It broke: {trouble}").format(trouble=transfer.trouble)
    if result.status is WcStatus.SUCCESS:
        return _("{state}: every completion says SUCCESS.").format(state=transfer.state.value.capitalize())
    return _("{status}. {meaning}").format(status=result.status.name, meaning=result.status.meaning)


def result_table(transfer: Transfer) -> str:
    """Return a result beside what the model expected, as an HTML table."""
    result = transfer.result
    if result is None or not result.messages:
        return ""
    model = transfer.prediction
    rows = [
        (
            _("Bandwidth"),
            format_rate(result.bandwidth_bytes_per_s),
            format_rate(model.bandwidth_bytes_per_s),
        ),
        (
            _("Messages"),
            format_count(result.messages_per_s, "/s"),
            format_count(model.messages_per_s, "/s"),
        ),
        (_("CPU"), f"{three_digits(result.cpu_share * 100)} %", f"{three_digits(model.cpu_share * 100)} %"),
        (_("Latency, one in flight"), "", format_duration(model.latency.p50)),
        (_("p50, queue full"), format_duration(result.latency.p50), ""),
        (_("p99, queue full"), format_duration(result.latency.p99), ""),
        (_("p99.9, queue full"), format_duration(result.latency.p999), ""),
        (_("Moved"), format_size(result.bytes), ""),
    ]
    kind = _("simulated") if result.simulated else _("measured")
    return table(("", kind, _("model")), rows)
