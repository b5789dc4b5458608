"""Array functions beside NumPy's: the script saves inputs and its results, named after what they are."""

import sys

import numpy

given = numpy.load(sys.argv[1])
done = numpy.load(sys.argv[2])
checked = 0
for name in done.files:
    function, *names = name.split(" ")
    arrays = [given[part] if part in given.files else int(part) for part in names]
    ours = done[name]
    with numpy.errstate(all="ignore"):
        if function in ("sort", "cumsum", "norm", "any", "all", "argmin", "argmax", "min", "max"):
            array, axis = arrays
            if function == "cumsum":
                theirs = numpy.cumsum(array, axis=axis - 1, dtype="float64")
            elif function == "norm":
                theirs = numpy.linalg.norm(array.astype("float64"), axis=axis - 1)
            else:
                theirs = getattr(numpy, function)(array, axis=axis - 1)
            if function in ("argmin", "argmax"):
                theirs = theirs + 1
        elif function == "dot":
            theirs = numpy.dot(*(array.astype("float64") for array in arrays))
        elif function in ("stack", "concatenate"):
            *parts, axis = arrays
            theirs = getattr(numpy, function)(parts, axis=axis - 1)
        elif function == "clip":
            theirs = numpy.clip(arrays[0], arrays[1], arrays[2])
        else:
            theirs = getattr(numpy, function)(*arrays)
    assert ours.dtype == theirs.dtype, (name, ours.dtype, theirs.dtype)
    assert ours.shape == theirs.shape, (name, ours.shape, theirs.shape)
    # Theirs are within a few units in the last place; ours are rounded correctly.
    close = {"float16": 2e-3, "float32": 5e-7}.get(str(theirs.dtype), 4e-15)
    exact = function not in ("exp", "log", "power", "norm", "dot", "cumsum")
    same = numpy.array_equal(ours, theirs, equal_nan=theirs.dtype.kind == "f")
    assert same or (not exact and numpy.allclose(ours, theirs, rtol=close, atol=0, equal_nan=True)), (name, ours, theirs)
    # Which of two zeros is the lesser is not settled, nor is the sign of NaN.
    if exact and theirs.dtype.kind == "f" and function not in ("clip", "minimum", "maximum"):
        signs = numpy.signbit(ours) == numpy.signbit(theirs)
        assert (signs | numpy.isnan(theirs)).all(), (name, "signs")
    checked += 1
print("ok", checked)
