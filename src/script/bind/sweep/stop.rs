//! The rules that end trials early, as a script names them.

use mlua::{Function, UserData, Value as LuaValue};

use super::space::table;
use crate::script::bind::{Fault, Module};
use crate::script::convert;
use crate::suggest;
use crate::sweep::stopping::{Rule, Stopping, Watched};

/// A rule in a script's hands, and what the script makes of a window for it.
#[derive(Clone)]
struct LuaRule(Stopping, Option<Function>);

impl UserData for LuaRule {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.SweepRule");
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("asha", |_, _, given: LuaValue| {
            let (counts, stopping) = read(&given, ["first", "factor"], [1, 3])?;
            let [first, factor] = counts;
            if first < 1 || factor < 2 {
                return Err(Fault::Line("asha: `first` must be at least 1 and `factor` at least 2".to_owned()));
            }
            let (watched, function) = stopping;
            Ok(LuaRule(Stopping { rule: Rule::Halving { first, factor }, watched }, function))
        })?
        .function("median", |_, _, given: LuaValue| {
            let (counts, stopping) = read(&given, ["first", "every", "least"], [1, 1, 3])?;
            let [first, every, least] = counts;
            if first < 1 || every < 1 || least < 1 {
                return Err(Fault::Line("median: `first`, `every` and `least` must be at least 1".to_owned()));
            }
            let (watched, function) = stopping;
            Ok(LuaRule(Stopping { rule: Rule::Median { first, every, least }, watched }, function))
        })
}

type Watching = (Watched, Option<Function>);

/// The counts called `names`, and what is watched.
fn read<const N: usize>(given: &LuaValue, names: [&str; N], usual: [u64; N]) -> Result<([u64; N], Watching), Fault> {
    let (mut counts, mut watched, mut function) = (usual, Watched::default(), None);
    if given.is_nil() {
        return Ok((counts, (watched, function)));
    }
    for (key, value) in convert::entries(&table(given, "rule")?, "rule")? {
        let key = convert::key_text(&key);
        let slot = names.iter().zip(&mut counts).find(|(name, _)| **name == key);
        match (slot, &value) {
            (Some((_, slot)), value) => {
                let given = convert::integer(value, &key)?;
                *slot = u64::try_from(given).map_err(|_| format!("`{key}` must not be negative, got {given}"))?;
            }
            (None, LuaValue::Function(own)) if key == "watch" => function = Some(own.clone()),
            (None, value) if key == "watch" => {
                let name = convert::text(value, &key)?;
                let known = Watched::ALL.map(|(name, _)| name);
                let found = Watched::ALL.into_iter().find(|(known, _)| *known == name);
                watched = found.map(|(_, watched)| watched).ok_or_else(|| {
                    format!(
                        "`watch` must be a function of the window or a name; {}",
                        suggest::hint(&name, "there are", known)
                    )
                })?;
            }
            (None, _) => {
                let hint = suggest::hint(&key, "it takes", names.into_iter().chain(["watch"]));
                return Err(Fault::Line(format!("unknown option `{key}`; {hint}")));
            }
        }
    }
    Ok((counts, (watched, function)))
}

/// The rule that `value` is.
pub(super) fn stop_of(value: &LuaValue) -> Result<(Stopping, Option<Function>), Fault> {
    match value {
        LuaValue::UserData(data) if data.is::<LuaRule>() => {
            let rule = data.borrow::<LuaRule>()?;
            Ok((rule.0, rule.1.clone()))
        }
        other => Err(Fault::Line(format!(
            "`stop` must be a rule, `sweep.asha{{...}}` or `sweep.median{{...}}`, got {}",
            convert::describe(other)
        ))),
    }
}
