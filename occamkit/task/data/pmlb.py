"""Data sets of the Penn Machine Learning Benchmarks, from a local folder or from the network."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import torch
from torch import Tensor

from occamkit.errors import DataError, did_you_mean

TARGET = "target"
"""The name that PMLB gives to every output column."""


def data_folder() -> Path | None:
    """Return the folder of public data: OCCAMKIT_DATA, or `shared/data` beside the checkout, or None."""
    named = os.environ.get("OCCAMKIT_DATA")
    if named:
        folder = Path(named)
        if not folder.is_dir():
            raise DataError(f"OCCAMKIT_DATA names {named!r}, which is no folder")
        return folder
    checkouts = (Path(__file__).parents[3], Path.cwd())
    beside = (checkout.parent / "shared" / "data" for checkout in checkouts)
    return next((folder for folder in beside if folder.is_dir()), None)


def fetch(dataset: str) -> tuple[list[str], Tensor]:
    """Return the column names and the columns [c, n] of a data set, the target last."""
    import pmlb

    if dataset not in pmlb.dataset_names:
        raise DataError(f"PMLB has no data set {dataset!r}{did_you_mean(dataset, pmlb.dataset_names)}")
    folder = data_folder()
    cache = folder / "pmlb" if folder is not None else _cache_folder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # between pmlb and pandas, nothing a user can mend
            table = pmlb.fetch_data(dataset, local_cache_dir=str(cache))
    except (OSError, ValueError) as error:
        raise DataError(f"PMLB data set {dataset!r} is not in {cache} and cannot be downloaded: {error}") from error
    names = [str(name) for name in table.columns if name != TARGET]
    columns = torch.stack([torch.tensor(table[name].to_numpy(), dtype=torch.float64) for name in (*names, TARGET)])
    return [*names, TARGET], columns


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "occamkit" / "pmlb"
