//! Arrays made of others: `where`, `stack`, `concatenate`, and of nothing but a rule: `range`.

use mlua::{Lua, Value as LuaValue};

use super::methods::told;
use super::numeric::given;
use super::operators::broadcast;
use super::{Fault, LuaArray, MOST_ELEMENTS, admit};
use crate::array::{Array, ArrayError};
use crate::script::convert;

/// `yes` where `condition` is true, else `no`; a number beside an array takes its dtype, as in
/// arithmetic.
pub(super) fn where_(lua: &Lua, (condition, yes, no): (LuaValue, LuaValue, LuaValue)) -> Result<LuaArray, Fault> {
    let (condition, yes, no) = (given(&condition, "condition")?, side(&yes, "yes")?, side(&no, "no")?);
    let like = |side: Side, other: &Side| -> Result<Array, Fault> {
        match (side, other) {
            (Side::Number(number), Side::Array(other)) => {
                other.scalar_like(&convert::read(&number, "a side")?).map_err(told)
            }
            (Side::Number(number), Side::Number(_)) => given(&number, "a side"),
            (Side::Array(array), _) => Ok(array),
        }
    };
    let (yes, no) = (like(yes.clone(), &no)?, like(no, &yes)?);
    // Each is repeated to the shape of all.
    let size = broadcast(condition.shape(), yes.shape()).max(broadcast(condition.shape(), no.shape()));
    admit(lua, size.max(broadcast(yes.shape(), no.shape())).saturating_mul(4))?;
    condition.where_else(&yes, &no).map(LuaArray::new).map_err(told)
}

/// What may be chosen from.
#[derive(Clone)]
enum Side {
    Number(LuaValue),
    Array(Array),
}

fn side(value: &LuaValue, path: &str) -> Result<Side, Fault> {
    match value {
        LuaValue::Integer(_) | LuaValue::Number(_) => Ok(Side::Number(value.clone())),
        other => given(other, path).map(Side::Array),
    }
}

/// The arrays of a list, joined along an axis by `join`; `new` is how many axes it adds.
fn joined(
    lua: &Lua,
    (parts, axis): (LuaValue, LuaValue),
    new: usize,
    join: fn(&[Array], usize) -> Result<Array, ArrayError>,
) -> Result<LuaArray, Fault> {
    let LuaValue::Table(list) = &parts else {
        return Err(Fault::Line(format!("`parts` must be a list of arrays, got {}", convert::describe(&parts))));
    };
    let mut arrays = Vec::new();
    for (index, (key, part)) in convert::entries(list, "parts")?.iter().enumerate() {
        if !matches!(key, LuaValue::Integer(at) if usize::try_from(*at) == Ok(index + 1)) {
            return Err(Fault::Line(format!(
                "`parts` must be a list of arrays, got the key [{}]",
                convert::key_text(key)
            )));
        }
        arrays.push(given(part, &format!("parts[{}]", index + 1))?);
    }
    admit(lua, arrays.iter().map(Array::len).sum())?;
    let axes = arrays.first().map_or(0, |first| first.shape().len()) + new;
    let at = if axis.is_nil() { 1 } else { convert::integer(&axis, "axis")? };
    let from_end = |at: i64| if at < 0 { i64::try_from(axes).ok().map(|axes| axes + at) } else { at.checked_sub(1) };
    let axis = from_end(at).and_then(|at| usize::try_from(at).ok()).filter(|at| *at < axes.max(1));
    let axis = axis.ok_or_else(|| Fault::Line(format!("axis {at} does not exist: there are {axes} (from 1)")))?;
    join(&arrays, axis).map(LuaArray::new).map_err(told)
}

pub(super) fn stack(lua: &Lua, given: (LuaValue, LuaValue)) -> Result<LuaArray, Fault> {
    joined(lua, given, 1, Array::stack)
}

pub(super) fn concatenate(lua: &Lua, given: (LuaValue, LuaValue)) -> Result<LuaArray, Fault> {
    joined(lua, given, 0, Array::concatenate)
}

/// The numbers of Lua's own numeric `for`: from `first` to `last`, both included, in steps.
pub(super) fn range(lua: &Lua, (first, last, step): (LuaValue, LuaValue, LuaValue)) -> Result<LuaArray, Fault> {
    let step = if step.is_nil() { LuaValue::Integer(1) } else { step };
    let array =
        if let (LuaValue::Integer(first), LuaValue::Integer(last), LuaValue::Integer(step)) = (&first, &last, &step) {
            let span = i128::from(*last) - i128::from(*first);
            let count =
                count_of((*step != 0).then(|| span / i128::from(*step) + 1), (span < 0) != (*step < 0) && span != 0)?;
            admit(lua, count)?;
            // None overflows: all lie between the first and the last.
            let items = (0..count).scan(*first, |next, _| Some(std::mem::replace(next, next.wrapping_add(*step))));
            Array::from_vec(&[count], items.collect::<Vec<i64>>())
        } else {
            let [first, last, step] =
                [(&first, "first"), (&last, "last"), (&step, "step")].map(|(value, name)| convert::number(value, name));
            let (first, last, step) = (first?, last?, step?);
            let steps = ((last - first) / step).floor();
            #[expect(clippy::cast_possible_truncation, reason = "a count beyond memory is refused as such")]
            let count =
                count_of((step != 0.0 && steps.is_finite()).then_some((steps as i128).saturating_add(1)), steps < 0.0)?;
            admit(lua, count)?;
            #[expect(clippy::cast_precision_loss, reason = "no array has 2^53 elements")]
            Array::from_vec(&[count], (0..count).map(|at| first + at as f64 * step).collect::<Vec<f64>>())
        };
    array.map(LuaArray::new).map_err(told)
}

/// How many there are; none where the steps lead away from the end.
fn count_of(count: Option<i128>, away: bool) -> Result<usize, Fault> {
    let count = count.ok_or_else(|| Fault::Line("`step` must lead from `first` to `last`, and not be 0".to_owned()))?;
    let count = if away { Some(0) } else { usize::try_from(count).ok().filter(|count| *count <= MOST_ELEMENTS) };
    count.ok_or_else(|| Fault::Line(format!("the range is too large: an array has at most {MOST_ELEMENTS} elements")))
}
