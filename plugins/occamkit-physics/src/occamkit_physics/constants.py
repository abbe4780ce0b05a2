"""Constants of nature as CODATA recommends them. The numbers and units are scipy's; only the names are ours."""

from __future__ import annotations

import re

from scipy import constants as codata

from occamkit import Quantity

_NAMES = {
    "speed_of_light": "speed of light in vacuum",
    "planck": "Planck constant",
    "reduced_planck": "reduced Planck constant",
    "gravitation": "Newtonian constant of gravitation",
    "standard_gravity": "standard acceleration of gravity",
    "boltzmann": "Boltzmann constant",
    "avogadro": "Avogadro constant",
    "gas_constant": "molar gas constant",
    "elementary_charge": "elementary charge",
    "vacuum_permittivity": "vacuum electric permittivity",
    "vacuum_permeability": "vacuum mag. permeability",
    "electron_mass": "electron mass",
    "proton_mass": "proton mass",
    "neutron_mass": "neutron mass",
    "atomic_mass": "atomic mass constant",
    "fine_structure": "fine-structure constant",
    "rydberg": "Rydberg constant",
    "bohr_radius": "Bohr radius",
    "bohr_magneton": "Bohr magneton",
    "stefan_boltzmann": "Stefan-Boltzmann constant",
    "wien_displacement": "Wien wavelength displacement law constant",
    "faraday": "Faraday constant",
}
"""What we call each, and what CODATA does."""


def _unit(text: str) -> str:
    """Rewrite "kg m^-1 s^-2" as a task file has it."""
    return re.sub(r"\^(-?\d+)", r"**\1", text).replace(" ", "*")


def _quantity(name: str, official: str) -> Quantity:
    value, unit, uncertainty = codata.physical_constants[official]
    known = "exact" if uncertainty == 0 else f"uncertain by {uncertainty / abs(value):.1e}"
    return Quantity(name, value, _unit(unit), f"{official}, CODATA, {known}")


CONSTANTS = tuple(_quantity(name, official) for name, official in _NAMES.items())
