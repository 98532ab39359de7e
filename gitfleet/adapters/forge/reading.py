"""What client libraries read from responses that are JSON, but not that of the forge's API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast, get_type_hints

from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import ForgeUnavailable, GitfleetError

P = ParamSpec("P")
T = TypeVar("T")


class _Hosted(Protocol):
    host: str


_Forge = TypeVar("_Forge", bound=_Hosted)


def read_strictly(call: Callable[Concatenate[_Forge, P], T]) -> Callable[Concatenate[_Forge, P], T]:
    """A method of a forge, made to its end: ForgeUnavailable where a field is not there or of another type, so that
    none gets to whoever called."""

    @wraps(call)
    def reading(forge: _Forge, *args: P.args, **options: P.kwargs) -> T:
        try:
            returned = call(forge, *args, **options)
            rows = tuple(returned) if isinstance(returned, Iterator) else (returned,)
            for row in rows:
                _check_types(row)
        except GitfleetError:
            raise
        except Exception as error:  # the libraries raise whatever their reading comes upon
            reason = ForgeText.ANSWERS_OTHERWISE_API_SAYS(name=call.__name__, name_2=type(error).__name__)
            raise ForgeUnavailable(ForgeText.THE_FORGE(host=forge.host, why=reason)) from error
        return cast(T, rows) if isinstance(returned, Iterator) else returned

    return cast(Callable[Concatenate[_Forge, P], T], reading)


def _check_types(row: object) -> None:
    for name, expected in get_type_hints(type(row)).items():
        if type(getattr(row, name)) is not expected:
            raise TypeError(ForgeText.IS_NO(name=name, name_2=expected.__name__))
