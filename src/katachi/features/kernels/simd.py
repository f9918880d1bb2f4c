"""Vectors of eight floats for kernels whose loops no compiler vectorizes by itself.

In memory they are float32, or bfloat16 (the upper half of a float32) in an array of uint16, since numpy has no
bfloat16. `load` and `store` look at the type of the array when a kernel is compiled, so that one kernel serves both.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.extending import models, overload, register_model

intrinsic: Any = extending.intrinsic  # what it makes is called with one argument less than it is written with

LANES = 8
_INT = ir.IntType(32)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(_INT, LANES)
_HALVES = ir.VectorType(ir.IntType(16), LANES)
_UNDEFINED = ir.Constant(_FLOATS, ir.Undefined)


class _Vector(types.Type):
    """Eight floats in a register."""

    def __init__(self):
        super().__init__(name="Float32x8")


_VECTOR = _Vector()


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


def _pointer(context, builder, signature, arguments, vector):
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())


def _eight(number):
    return ir.Constant(_INTS, [number] * LANES)


@intrinsic
def load(_typing, array, index):  # noqa: ARG001
    """The eight floats of a flat array of float32, or of bfloat16 as uint16, from an index on."""

    def generate(context, builder, signature, arguments):
        return builder.load(_pointer(context, builder, signature, arguments, _FLOATS), align=4)

    def widen(context, builder, signature, arguments):
        halves = builder.load(_pointer(context, builder, signature, arguments, _HALVES), align=2)
        return builder.bitcast(builder.shl(builder.zext(halves, _INTS), _eight(16)), _FLOATS)

    return _VECTOR(array, types.uintp), widen if array.dtype == types.uint16 else generate


@intrinsic
def store(_typing, array, index, vector):  # noqa: ARG001
    """Write eight floats to a flat array from an index on; bfloat16 is rounded to nearest, ties to even."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _pointer(context, builder, signature, arguments, _FLOATS), align=4)
        return context.get_dummy_value()

    def round_and_store(context, builder, signature, arguments):
        bits = builder.bitcast(arguments[2], _INTS)
        odd = builder.and_(builder.lshr(bits, _eight(16)), _eight(1))
        # Whatever is over half of the last kept bit carries into it; the NaNs that arithmetic makes stay NaN.
        bits = builder.add(bits, builder.add(_eight(0x7FFF), odd))
        halves = builder.trunc(builder.lshr(bits, _eight(16)), _HALVES)
        builder.store(halves, _pointer(context, builder, signature, arguments, _HALVES), align=2)
        return context.get_dummy_value()

    return types.void(array, types.uintp, vector), round_and_store if array.dtype == types.uint16 else generate


@intrinsic
def spread(_typing, number):  # noqa: ARG001
    """A number eight times."""

    def generate(_context, builder, _signature, arguments):
        first = builder.insert_element(_UNDEFINED, arguments[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(first, _UNDEFINED, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))

    return _VECTOR(types.float32), generate


@intrinsic
def spread_from(_typing, array, index):  # noqa: ARG001
    """One float of a flat array eight times."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        number = builder.load(builder.gep(array.data, [arguments[1]]))
        first = builder.insert_element(_UNDEFINED, number, ir.Constant(_INT, 0))
        return builder.shuffle_vector(first, _UNDEFINED, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))

    return _VECTOR(array, types.uintp), generate


@intrinsic
def where_positive(_typing, sign, vector):  # noqa: ARG001
    """A vector where another is positive, and 0 elsewhere."""

    def generate(_context, builder, _signature, arguments):
        zero = ir.Constant(_FLOATS, [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), arguments[1], zero)

    return _VECTOR(_VECTOR, _VECTOR), generate


def _instruction(name):
    """What an LLVM instruction makes of two vectors; products and sums may be fused."""

    @intrinsic
    def combine(_typing, left, right):  # noqa: ARG001
        def generate(_context, builder, _signature, arguments):
            return getattr(builder, name)(*arguments, flags=("contract",))

        return _VECTOR(_VECTOR, _VECTOR), generate

    return combine


_add = _instruction("fadd")
_subtract = _instruction("fsub")
_multiply = _instruction("fmul")


@overload(operator.add)
def _overload_add(left, right):
    return (lambda left, right: _add(left, right)) if left == right == _VECTOR else None


@overload(operator.sub)
def _overload_subtract(left, right):
    return (lambda left, right: _subtract(left, right)) if left == right == _VECTOR else None


@overload(operator.mul)
def _overload_multiply(left, right):
    """A number or a vector times a vector."""
    if isinstance(left, types.Float) and right == _VECTOR:
        return lambda left, right: _multiply(spread(left), right)
    return (lambda left, right: _multiply(left, right)) if left == right == _VECTOR else None
