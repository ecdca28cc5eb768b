"""The default type of torch, and its modes: without gradients, inference, autocast, a default device.

All of them are read at each switch from the import of torch on, because compiled code sets them, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from fakempi.isolation.settings.exchange import ProcessSetting, Value


def modes(torch: Any, has_own_threads: bool) -> Iterator[ProcessSetting]:
    """Yield the settings; those of an OS thread only if ranks share one."""
    if has_own_threads:
        yield Value("torch.dtype", torch.get_default_dtype, torch._C._set_default_dtype)
        yield Value("torch.anomaly", torch.is_anomaly_enabled, torch.set_anomaly_enabled)
    else:
        yield _Modes(torch)


class _Modes(ProcessSetting):
    """All modes in one setting, which takes half as long as one for each.

    The inference mode and the modes that intercept functions (a default device) are removed when they are read: only what
    has entered an inference mode can leave it, and functions are intercepted by a stack.
    """

    __slots__ = ("anomaly", "autocast", "compiled", "depth", "dtype", "gradients", "inference", "thread", "torch")

    def __init__(self, torch: Any) -> None:
        super().__init__("torch.modes")
        self.torch, self.compiled = torch, torch._C
        self.dtype, self.gradients, self.anomaly = torch.get_default_dtype, torch.is_grad_enabled, torch.is_anomaly_enabled
        self.autocast, self.inference = torch.is_autocast_enabled, torch.is_inference_mode_enabled
        self.depth = torch._C._len_torch_function_stack
        self.thread = vars(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None) or _Empty())

    def read(self) -> tuple[Any, ...]:
        """Return the flags, the type of autocast, what restores the inference mode, and the modes that were on the stack."""
        flags = self.dtype(), self.gradients(), self.anomaly()
        autocast = self.torch.get_autocast_dtype("cpu") if self.autocast("cpu") else None
        return flags, autocast, self._leave_inference() if self.inference() else None, self._pop() if self.depth() else None

    def write(self, value: tuple[Any, ...]) -> None:
        """Restore everything."""
        (dtype, gradients, anomaly), autocast, inference, modes = value
        self.compiled._set_default_dtype(dtype)
        self.compiled._set_grad_enabled(gradients)
        self.torch.set_anomaly_enabled(anomaly)
        self.torch.set_autocast_enabled("cpu", autocast is not None)
        if autocast is not None:
            self.torch.set_autocast_dtype("cpu", autocast)
        if inference is not None:
            inference.__exit__(None, None, None)
        if modes is not None:
            self._push(*modes)

    def is_same(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        """Return whether there is nothing to restore."""
        return one == other and other[2] is other[3] is None

    def _leave_inference(self) -> Any:
        guard = self.compiled._InferenceMode(False)
        guard.__enter__()
        return guard

    def _pop(self) -> tuple[Any, ...]:
        """Remove the modes, the last one first; also the default device, in the thread and in its module."""
        modes = [self.compiled._pop_torch_function_stack() for _ in range(self.depth())]
        module = sys.modules["torch.utils._device"]
        device, module.CURRENT_DEVICE = module.CURRENT_DEVICE, None  # type: ignore[attr-defined]  # torch is not needed by mypy
        return modes, self.thread.pop("device_context", None), device

    def _push(self, modes: list[Any], context: Any, device: Any) -> None:
        self.thread["device_context"] = context
        sys.modules["torch.utils._device"].CURRENT_DEVICE = device  # type: ignore[attr-defined]  # torch is not needed by mypy
        for mode in reversed(modes):
            self.compiled._push_on_torch_function_stack(mode)


class _Empty:
    """A version of torch without a default device."""
