//! The configuration of an experiment, from Lua, YAML or JSON.
