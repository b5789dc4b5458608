//! Policies by the dotted name of a module's function: `my.policies:make` is the function `make` of
//! the script's own module `my.policies`.
//!
//! It stands for the definition whose `new` calls that function, so it travels in a bundle as any
//! policy of a script does, the module's text with it.

use mlua::{Function, Lua, Table, Value as LuaValue};

use super::Fault;
use super::definition::record;
use super::scripted_policy::PolicyDefinition;
use crate::config::ExperimentConfig;
use crate::script::convert;
use crate::script::error::LIBRARY_CHUNK;
use crate::script::host::Host;
use crate::script::loader;
use crate::suggest;

/// The module and the function in `id`, if it is written as such a name.
#[must_use]
pub(crate) fn module_function(id: &str) -> Option<(&str, &str)> {
    let (module, function) = id.split_once(':')?;
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    (module.split('.').all(word) && word(function)).then_some((module, function))
}

/// Defines the policy that `config` names, if it is a module's function that nothing else stands for.
///
/// # Errors
/// When the module raises or has no such function. One that is not there is left to be told as an
/// unknown id if it looks like a known one.
pub(super) fn define(lua: &Lua, host: &Host, config: &ExperimentConfig) -> Result<(), Fault> {
    let Some(policy) = config.algorithm.policy.as_ref().filter(|policy| policy.lua.is_none()) else { return Ok(()) };
    let id = &policy.id;
    let Some((module, function)) = module_function(id) else { return Ok(()) };
    let known = host.catalog.borrow().policy_ids().any(|known| known == id);
    let near = suggest::nearest(id, host.catalog.borrow().policy_ids()).is_some();
    if known || (near && !loader::exists(host, module)) {
        return Ok(());
    }
    let fault = |line: String| Fault::Line(format!("policy `{id}`: {line}"));
    let required: LuaValue = lua.globals().get::<Function>("require")?.call(module)?;
    let LuaValue::Table(exports) = &required else {
        let got = convert::describe(&required);
        return Err(fault(format!("module `{module}` must return a table of functions, got {got}")));
    };
    match exports.get::<LuaValue>(function)? {
        LuaValue::Function(_) => {}
        LuaValue::Nil => {
            let names = convert::entries(exports, "module")?;
            let names: Vec<String> = names.iter().map(|(name, _)| convert::key_text(name)).collect();
            let hint = suggest::hint(function, "it has", names.iter().map(String::as_str));
            return Err(fault(format!("module `{module}` has no function `{function}`; {hint}")));
        }
        other => {
            let got = convert::describe(&other);
            return Err(fault(format!("`{function}` of module `{module}` must be a function, got {got}")));
        }
    }
    let text = format!(
        "return {{ id = \"{id}\", new = function(kwargs, context)\n\
         return require(\"{module}\")[\"{function}\"](kwargs, context)\n\
         end }}\n"
    );
    let chunk = loader::compile(lua, &host.sources, &format!("{LIBRARY_CHUNK}/{id}"), &text)?;
    let table = LuaValue::Table(chunk.call::<Table>(())?);
    let definition = PolicyDefinition::read(&table)?;
    let code = record(host, &table);
    host.catalog.borrow_mut().define_policy(id.as_str(), definition.maker(lua.weak(), code.clone()), code);
    Ok(())
}
