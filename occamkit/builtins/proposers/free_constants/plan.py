"""All small formulas in the order in which they are tried: straight models, one function, two, one inside another.

What comes later is drawn in random order, for there is more of it than there is time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, islice

from occamkit.builtins.proposers.free_constants.skeleton import (
    FREE,
    FUNCTION,
    POWER,
    Factor,
    Grammar,
    Sum,
    raised,
    variable,
)
from occamkit.kernel import Offset, Op

OUTER = (-4, FREE, 2, 8, -8, -2)
"""Powers of a sum, in quarters."""
MOST_PAIRS = 3_000
"""Formulas of two functions, or of three inputs, that come early: of many inputs there are more than there is time."""
MOST_DRAWN = 300_000
"""Formulas that are drawn from the later parts of the plan, which may have millions."""

Wrap = Callable[[Sum], Factor]
Items = Iterator[Sum]


class FormulaPlan:
    """The formulas of a grammar, simple ones first."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self._grammar, self._random = grammar, random.Random(seed)
        self._variables = [variable(one) for one in grammar.inputs]
        powers = (4, -4, 8, -8, FREE, 2)
        self._monomials = [variable(i, power) for i in grammar.inputs for power in powers if grammar.may(i, power)]
        ops = [one.op for one in grammar.functions]
        # A cosine is a sine with another phase; without a phase it comes when formulas are made simpler.
        twins = (Op.COS,) if Op.SIN in ops else ()
        self._wraps: list[Wrap] = [self._function(which) for which, op in enumerate(ops) if op not in twins]
        self._wraps += [lambda inside, power=power: raised(inside, power) for power in OUTER]  # type: ignore[misc]
        self._factor: list[Wrap] = [lambda inside: raised(inside, 4)]

    def _function(self, which: int) -> Wrap:
        return lambda inside: self._grammar.function(which, inside)

    def _is(self, factor: Factor, *ops: Op) -> bool:
        return factor[0] == FUNCTION and self._grammar.functions[factor[1]].op in ops

    def _calls(self, factor: Factor) -> bool:
        """Whether there is a function in it that the kernel has to call."""
        inside = factor[3][1] if factor[3] else ()
        return self._is(factor, Op.OUTSIDE) or any(self._calls(one) for product in inside for one in product)

    def __iter__(self) -> Items:
        yield from self.small()
        yield from self._tidy(self._later(self._one(), self._two(), self._cross()))

    def small(self) -> Items:
        """Yield the formulas that are few enough to try all of them, the simplest first."""
        yield from self._tidy(self._small())

    def _tidy(self, formulas: Items) -> Items:
        for formula in formulas:
            tidied = self._grammar.tidy(*formula)
            if tidied is not None:
                yield tidied

    def _small(self) -> Items:
        yield from map(_lone_term, self._monomials)
        yield from self._straight()
        one, cross = self._one(), self._cross()
        # Functions that the kernel has to call take many times as long: what they make with others comes last.
        known = [factor for factor in one if not self._is(factor, Op.OUTSIDE)]
        outside = [factor for factor in one if self._is(factor, Op.OUTSIDE)]
        yield from map(_lone_term, one)
        yield from ((Offset.ONE, (pair,)) for pair in self._pairs())
        bare = self._bare()
        yield from ((Offset.NONE, ((*self._free(), factor),)) for factor in bare)
        two = self._two()
        yield from ((Offset.NONE, ((*self._free(), factor),)) for factor in two if not self._calls(factor))
        yield from islice(self._both(bare), MOST_PAIRS)
        yield from map(_lone_term, cross)
        yield from islice((one for one in self._apart() if not any(map(self._calls, one[1][0]))), MOST_PAIRS)
        yield from self._beside(self._monomials, known)
        pairs = combinations_with_replacement(bare, 2)
        yield from islice(((Offset.NONE, ((*self._free(), *pair),)) for pair in pairs), MOST_PAIRS)
        yield from map(_lone_term, (factor for factor in two if not self._calls(factor)))
        short = [(factor,) for factor in self._monomials if factor[2] in (4, -4, 8, -8)]
        lines = [raised((Offset.ONE, (product,)), 4) for product in (*short, *self._pairs(), *self._pairs(-4))]
        yield from ((Offset.NONE, ((line, other),)) for line in lines for other in known)
        wrapped = [wrap(_lone_term(factor)) for factor in cross for wrap in self._wraps]
        yield from map(_lone_term, (factor for factor in wrapped if not self._calls(factor)))
        yield from ((Offset.NONE, ((left, right),)) for left in self._lone() for right in cross)
        yield from self._beside(self._monomials, outside)
        yield from map(_lone_term, (factor for factor in (*two, *wrapped) if self._calls(factor)))
        yield from ((Offset.NONE, ((line, other),)) for line in lines for other in outside)

    def more(self, formula: Sum) -> Items:
        """Yield a formula with every small term added to it, and with every small factor."""
        one = self._one()
        offset, products = formula
        for term in ((factor,) for factor in (*self._monomials, *one)):
            yield offset, (*products, term)
        for place, product in enumerate(products):
            for factor in (*self._monomials, *one):
                yield offset, (*products[:place], (*product, factor), *products[place + 1 :])
        for left in self._monomials:
            for right in one:
                yield offset, (*products, (left, right))

    def _straight(self) -> Items:
        """Yield models that need no search: lines, products of powers, functions of either, and one of each input."""
        inputs = self._variables
        if not inputs:
            return
        line: Sum = (Offset.ONE, tuple((one,) for one in inputs))
        yield line
        free = self._free()
        yield Offset.ONE, (free,)
        yield Offset.NONE, (free,)
        yield Offset.ONE, tuple((one,) for i in self._grammar.inputs for one in (variable(i), variable(i, 8)))
        yield Offset.ONE, (*((one,) for one in inputs), *combinations(inputs, 2))
        for wrap in self._wraps:
            yield Offset.ONE, tuple((wrap(_lone_term(one)),) for one in inputs)
            yield Offset.ONE, ((wrap(line),),)
            yield Offset.ONE, ((wrap((Offset.ONE, (free,))),),)
        for lone in self._lone():
            yield from ((Offset.NONE, ((lone, wrap(line)),)) for wrap in self._wraps)

    def _free(self) -> tuple[Factor, ...]:
        """Return a product of powers of all inputs."""
        return tuple(variable(i, FREE if self._grammar.may(i, FREE) else 4) for i in self._grammar.inputs)

    def _lone(self) -> list[Factor]:
        """Return inputs and their inverses."""
        return [factor for factor in self._monomials if factor[2] in (4, -4)]

    def _one(self) -> list[Factor]:
        """Return one function of a power of one input, or of an input and its square."""
        found = []
        for factor in self._monomials:
            for wrap in self._wraps:
                made = wrap(_lone_term(factor))
                waves = (Op.SIN,) if factor[2] == 8 else ()
                if factor[2] in (4, -4) or made[0] == POWER or self._is(made, Op.EXP, *waves):
                    found.append(made)
        for one in self._grammar.inputs:
            found += [wrap(_square(one)) for wrap in self._wraps]
            found += [
                (FUNCTION, which, 4, (Offset.NONE, ((variable(one),),)))
                for which, function in enumerate(self._grammar.functions)
                if Offset.NONE in function.offsets[1:] and (function.op is not Op.LOG or self._grammar.one_sign[one])
            ]
        return found

    def _pairs(self, first: int = 4) -> list[tuple[Factor, ...]]:
        """Return products of a power of one input and one of another."""
        found: list[tuple[Factor, ...]] = []
        for i in self._grammar.inputs:
            for j in self._grammar.inputs:
                for power in (4, -4, 8, -8):
                    twice = power == first and i > j
                    if i != j and not twice and self._grammar.may(i, first) and self._grammar.may(j, power):
                        found.append((variable(i, first), variable(j, power)))
        return found

    def _cross(self) -> list[Factor]:
        """Return one function of two inputs together."""
        found = [wrap((Offset.ONE, (pair,))) for pair in self._pairs() for wrap in self._wraps]
        for i, j in combinations(self._grammar.inputs, 2):
            for power in (4, 8):
                both = ((variable(i, power),), (variable(j, power),))
                found += [wrap((offset, both)) for wrap in self._wraps for offset in (Offset.ONE, Offset.NONE)]
        return found

    def _apart(self) -> Items:
        """Yield functions of how far two inputs are apart, as a part of a third; over that, and times powers."""
        for i, j in combinations(self._grammar.inputs, 2):
            both: Sum = (Offset.NONE, ((variable(i),), (variable(j),)))
            for k in (one for one in self._grammar.inputs if one not in (i, j) and self._grammar.may(one, -4)):
                for power, scale in ((4, -4), (4, 4), (8, -8), (8, 8)):
                    inside = (raised(both, power), variable(k, scale))
                    made = [wrap((Offset.ONE, (inside,))) for wrap in self._wraps]
                    steps = [raised(_lone_term(one), -4) for one in made if self._is(one, Op.EXP)]
                    for factor in (*made, *steps):
                        yield _lone_term(factor)
                        yield Offset.NONE, ((variable(k, -4), factor),)
                        yield Offset.NONE, ((*self._free(), factor),)

    def _bare(self) -> list[Factor]:
        """Return functions of one input; of its inverse and of it and its square those that saturate or peak."""
        found = [wrap(_lone_term(one)) for one in self._variables for wrap in self._wraps]
        for i in self._grammar.inputs:
            insides = [_square(i), *([_lone_term(variable(i, -4))] if self._grammar.may(i, -4) else [])]
            made = [wrap(inside) for inside in insides for wrap in self._wraps]
            found += [one for one in made if self._is(one, Op.EXP) or (one[0] == POWER and one[2] == -4)]
        return [one for one in found if not self._is(one, Op.OUTSIDE)]

    @staticmethod
    def _both(factors: Sequence[Factor]) -> Items:
        """Yield products and sums of two factors, each of which may be there twice."""
        for one, other in combinations_with_replacement(factors, 2):
            yield Offset.ONE, ((one, other),)
            yield Offset.ONE, ((one,), (other,))

    def _two(self) -> list[Factor]:
        """Return one function inside another."""
        base = [
            wrap(_lone_term(variable(i, power)))
            for i in self._grammar.inputs
            for power in (4, -4)
            if self._grammar.may(i, power)
            for wrap in self._wraps
        ]
        return [wrap(_lone_term(one)) for one in base for wrap in (*self._wraps, *self._factor)]

    @staticmethod
    def _beside(left: Sequence[Factor], right: Sequence[Factor]) -> Items:
        for one in left:
            for other in right:
                yield Offset.ONE, ((one, other),)
                yield Offset.ONE, ((one,), (other,))

    def _later(self, one: list[Factor], two: list[Factor], cross: list[Factor]) -> Items:
        """Yield what two functions make together, and more; in random order."""
        monomials = self._monomials
        kinds: list[tuple[int, Callable[[int], Sum]]] = []

        def pairs(left: Sequence[Factor], right: Sequence[Factor]) -> None:
            count = len(left) * len(right)
            kinds.append((count, lambda k: (Offset.ONE, ((left[k // len(right)], right[k % len(right)]),))))
            kinds.append((count, lambda k: (Offset.ONE, ((left[k // len(right)],), (right[k % len(right)],)))))

        pairs(one, one)
        pairs(monomials, two)
        pairs(monomials, cross)
        pairs(one, cross)
        both = [(left, right) for left in monomials for right in monomials]
        if both and one:
            count = len(both) * len(one)
            kinds.append((count, lambda k: (Offset.ONE, ((*both[k // len(one)], one[k % len(one)]),))))
            kinds.append(
                (
                    count,
                    lambda k: (Offset.ONE, ((both[k // len(one)][0], one[k % len(one)]), (both[k // len(one)][1],))),
                )
            )
        sums = [factor for factor in two if factor[0] == POWER and factor[2] == 4]
        if sums:
            kinds.append((len(sums) * len(one), lambda k: (Offset.ONE, ((sums[k // len(one)], one[k % len(one)]),))))
        total = sum(count for count, _ in kinds)
        for place in self._random.sample(range(total), min(total, MOST_DRAWN)):
            for count, make in kinds:
                if place < count:
                    yield make(place)
                    break
                place -= count  # noqa: PLW2901 the place within the kind


def _lone_term(factor: Factor) -> Sum:
    return Offset.ONE, ((factor,),)


def _square(which: int) -> Sum:
    return Offset.ONE, ((variable(which),), (variable(which, 8),))
