"""Strings from files are text in every table."""

from __future__ import annotations

from gdviz.widgets.parts import Message, table

HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_hostile_name_is_text_in_a_table():
    html = table((HOSTILE,), [(HOSTILE, 3)])
    assert "<img" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") == 2


def test_an_empty_table_says_what_to_do():
    assert table(("a",), [], "Press <Start>.") == '<div class="gdviz-empty">Press &lt;Start&gt;.</div>'


def test_messages_are_text_and_errors_are_marked_by_a_word():
    message = Message()
    message.say(HOSTILE)
    assert "<img" not in message.value
    message.fail(HOSTILE)
    assert "<img" not in message.value
    assert "Not done" in message.value
