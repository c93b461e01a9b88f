"""Rules by name: from a name and options to an object."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

RuleT = TypeVar("RuleT")


@dataclass(frozen=True)
class RuleNames(Generic[RuleT]):
    """Names of rules and where their classes are; a rule is a dataclass, its fields are options."""

    package: str
    homes: Mapping[str, tuple[str, str]]

    def kind(self, name: str) -> type[RuleT]:
        module, attribute = self.homes[name]
        home = importlib.import_module(f"{self.package}.{module}")
        found: type[RuleT] = getattr(home, attribute)
        return found

    def rule(self, rule: str | RuleT, base: type[Any], options: Mapping[str, Any]) -> RuleT:
        """The rule with a name and options, or a rule that was passed as an object."""
        if not isinstance(rule, str) and isinstance(rule, base):
            if options:
                raise ValueError(
                    f"{', '.join(options)} cannot be combined with rule={rule!r}, which has its "
                    "own options."
                )
            return rule
        if not isinstance(rule, str) or rule not in self.homes:
            raise ValueError(f"rule={rule!r} is not known; rules are {', '.join(self.homes)}.")
        kind: type[Any] = self.kind(rule)
        known = [field.name for field in fields(kind)]
        unknown = [name for name in options if name not in known]
        if unknown:
            allowed = ", ".join(known) if known else "none"
            raise TypeError(f"rule={rule!r} has no option {unknown[0]!r}; its options: {allowed}.")
        found: RuleT = kind(**options)
        return found
