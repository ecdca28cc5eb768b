"""The configuration of jax: an option has a value for the process and, while a context manager is active, for the thread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.isolation.settings.exchange import ProcessSetting
from fakempi.isolation.settings.tracked import Tracked
from fakempi.mpi.base.current import os_thread


def configuration(module: Any, args: tuple[Any, ...], by_thread: bool = True) -> list[ProcessSetting]:
    """Return all options, with the values of the thread."""
    holders = [(holder, hasattr(holder, "get_local")) for holder in module.config._value_holders.values()]

    def read() -> tuple[Any, ...]:
        return tuple([_value_of(holder, has_local, by_thread) for holder, has_local in holders])

    def write(values: tuple[Any, ...]) -> None:
        for (holder, has_local), (value, local) in zip(holders, values, strict=True):
            now, now_local = _value_of(holder, has_local, by_thread)
            if now is not value and now != value:
                _set(holder, value, has_local)
            if now_local is not local and now_local != local:
                holder.set_local(local)
                if holder._update_thread_local_hook:
                    holder._update_thread_local_hook(None if local is module.config_ext.unset else local)

    return [Tracked("jax.config", read, write)]


def of_process(module: Any, args: tuple[Any, ...]) -> list[ProcessSetting]:
    """Return all options, without the values of the thread."""
    return configuration(module, args, False)


def _value_of(holder: Any, has_local: bool, by_thread: bool) -> tuple[Any, Any]:
    if not has_local:
        return holder.value, None
    return holder.get_global(), holder.get_local() if by_thread else None


def _set(holder: Any, value: Any, has_local: bool) -> None:
    """Set the value for the process as `_set` of the option does, but for the parser."""
    if has_local:
        holder.set_global(value)
        if holder._update_global_hook:
            holder._update_global_hook(value)
    else:
        holder.value = value
        if holder._update_hook is not None:
            holder._update_hook(value)


def without_switches(original: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function during which no other rank runs, as if it were called outside of the run.

    jax finds its devices in the first compilation, and starts a thread for a timer meanwhile. If another rank on a greenlet
    ran then, and called the function that is being compiled, jax would take that for a recursive call.
    """

    @functools.wraps(original)
    def call() -> Any:
        task = current_task()
        if task is None:
            return original()
        os_thread.loop = None
        try:
            return original()
        finally:
            os_thread.loop = task.agenda

    return call
