"""How a rule is written and registered.

A rule is a function of the whole case. It yields a `Finding` for yes, an `Untold` (with what to run) where
the inputs do not tell, and nothing for no. Conclusions see what the other rules found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from gdviz.doctor.evidence.node import CaseEvidence
from gdviz.doctor.findings import Finding, Untold

Answer: TypeAlias = Finding | Untold
Rule: TypeAlias = Callable[[CaseEvidence], Iterable[Answer]]
Conclusion: TypeAlias = Callable[[CaseEvidence, tuple[Finding, ...]], Iterable[Answer]]


@dataclass(frozen=True, slots=True)
class Registered:
    """A rule with the codes it may yield and its number."""

    codes: tuple[str, ...]
    number: str
    run: Rule


RULES: list[Registered] = []
CONCLUSIONS: list[tuple[tuple[str, ...], Conclusion]] = []


def rule(*codes: str, number: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for some codes; `number` is its number in the table of rules ('R8')."""

    def add(function: Rule) -> Rule:
        RULES.append(Registered(codes, number, function))
        return function

    return add


def conclusion(*codes: str) -> Callable[[Conclusion], Conclusion]:
    """Register a rule that looks at what the others found."""

    def add(function: Conclusion) -> Conclusion:
        CONCLUSIONS.append((codes, function))
        return function

    return add


def answers(case: CaseEvidence) -> Iterator[Answer]:
    """Go through the answers of all rules, then of the conclusions."""
    found: list[Finding] = []
    for registered in RULES:
        for answer in registered.run(case):
            if isinstance(answer, Finding):
                numbered = replace(answer, rule=registered.number)
                found.append(numbered)
                yield numbered
            else:
                yield answer
    for _codes, conclude in CONCLUSIONS:
        for answer in conclude(case, tuple(found)):
            if isinstance(answer, Finding):
                found.append(answer)
            yield answer
