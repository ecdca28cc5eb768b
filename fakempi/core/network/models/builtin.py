"""The parameters of all of fakempi's cost models, declared once; each model adds its own as fields of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass, fields
from inspect import Parameter, get_annotations
from typing import TypeAlias

from fakempi.core.network.cost import CostModel
from fakempi.core.network.files import FileServer
from fakempi.core.network.parameters import Time, check
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG

Count: TypeAlias = int
"""The type of parameters that are integers of at least 1."""

MINIMUM = {"Time": 0, "Count": 1}
"""Type of a field -> the smallest value. Fields of other types are checked by the model that declares them."""


@dataclass(eq=False, repr=False, kw_only=True)
class BuiltinModel(CostModel):
    """Base class of fakempi's cost models. `CostModel` describes the parameters, which may only be passed by keyword."""

    eager_limit: int = CostModel.eager_limit
    duplex: bool = CostModel.duplex
    ports: Count = CostModel.ports
    compute_per_byte: Time = CostModel.compute_per_byte
    files: FileServer | None = CostModel.files

    def __post_init__(self) -> None:
        self.validate()

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return the parameters; keyword-only ones of a class precede those that it inherits."""
        declared = [get_annotations(kind) for kind in cls.__mro__]

        def place(each: Parameter) -> int:
            inherited = (number for number, names in enumerate(declared) if each.name in names)
            return next(inherited, 0) if each.kind is Parameter.KEYWORD_ONLY else -1

        return sorted(super().parameters(), key=place)

    def validate(self) -> None:
        """Raise an error if a parameter is invalid, by the types of the fields."""
        super().validate()
        name = type(self).__name__
        for each in fields(self):
            value, (kind, *optional) = getattr(self, each.name), str(each.type).split(" | ")
            if kind in MINIMUM and not (optional and value is None):
                check(name, MINIMUM[kind], **{each.name: value})
            elif kind == "bool" and not isinstance(value, bool):
                raise MPITypeError(ERR_ARG, f"{name}: {each.name}={value!r} is not True or False.")
