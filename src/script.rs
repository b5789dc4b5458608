//! The script host: the only room that sees Lua.
