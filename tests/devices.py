"""Modes that fail when something leaves the data's device, for machines that have only one."""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

FACTORIES = {
    torch.arange,
    torch.empty,
    torch.eye,
    torch.full,
    torch.linspace,
    torch.ones,
    torch.rand,
    torch.randint,
    torch.randn,
    torch.randperm,
    torch.tensor,
    torch.zeros,
}
MOVES = {torch.Tensor.cpu, torch.Tensor.cuda, torch.Tensor.numpy}


class SaysWhere(TorchFunctionMode):
    """Fails when a tensor is made without saying on which device, or is moved to one by name."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        assert function not in FACTORIES or kwargs.get("device") is not None, f"{function} without a device"
        assert function not in MOVES, f"{function} leaves the data's device"
        return function(*args, **kwargs)


class StaysThere(TorchDispatchMode):
    """Fails when an operation copies from one device to another, which fake tensors allow."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        devices = {a.device.type for a in args if isinstance(a, torch.Tensor) and a.dim() > 0}
        if isinstance(result, torch.Tensor) and result.dim() > 0:
            devices.add(result.device.type)
        assert len(devices) <= 1, f"{function} goes from one device to another: {devices}"
        return result
