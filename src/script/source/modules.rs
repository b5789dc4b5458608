//! The script's own modules inside a recorded chunk: their texts, and the `require` that finds
//! them there.

use indexmap::IndexMap;

use super::lexer;
use crate::script::host::Host;
use crate::script::loader;

/// Adds to `modules` what `code` requires, and what that requires in turn.
///
/// # Errors
/// One line when a module's file cannot be read.
pub(super) fn collect(host: &Host, code: &str, modules: &mut IndexMap<String, String>) -> Result<(), String> {
    for (name, _) in lexer::required(code) {
        if loader::is_library(name) || modules.contains_key(name) {
            continue;
        }
        // What is not found raises where the code runs, as it does in the script.
        let Some(text) = loader::module_text(host, name)? else { continue };
        modules.insert(name.to_owned(), text.clone());
        collect(host, &text, modules)?;
    }
    Ok(())
}

/// The chunk's beginning: a `require` that knows `modules`, and after them the sandbox's own.
pub(super) fn prelude(modules: &IndexMap<String, String>) -> String {
    if modules.is_empty() {
        return String::new();
    }
    let mut text = String::from("local require\ndo\n  local library, loaded = _ENV.require, {}\n  local modules = {\n");
    for (name, code) in modules {
        text.push_str(&format!("[\"{name}\"] = function(...)\n{code}\nend,\n"));
    }
    text.push_str(
        "  }\n  function require(name)\n    if not modules[name] then return library(name) end\n    \
         if loaded[name] == nil then\n      local module = modules[name](name)\n      \
         loaded[name] = module == nil and true or module\n    end\n    return loaded[name]\n  end\nend\n",
    );
    text
}
