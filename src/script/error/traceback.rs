//! Frames that are gone by the time an error is reported: those of a coroutine, and those of a
//! function that native code called. What Lua wrote of them while they stood is read here.

use super::{Frame, Raise, is_own};

/// What failed last in a coroutine: what it said, and the frames it had then.
#[derive(Debug, Default)]
pub(in crate::script) struct Failed {
    text: String,
    frames: Vec<Frame>,
}

impl Failed {
    /// A coroutine ended with `value`; `traceback` is of its own stack.
    pub(in crate::script) fn note(&mut self, value: &mlua::Value, traceback: &str) {
        let raise = Raise::of_value(value);
        let mut frames = raised_by_native(value);
        if frames.is_empty() {
            frames = read(traceback);
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.function.push_str(", in a coroutine");
        }
        // The same error on its way through another coroutine has come further.
        let mut way = if self.is(&raise) { std::mem::take(&mut self.frames) } else { Vec::new() };
        way.extend(frames);
        *self = Self { text: raise.text, frames: way };
    }

    /// Native code caught `error` on its way out of Lua.
    pub(in crate::script) fn note_caught(&mut self, error: &mlua::Error) {
        *self = Self { text: super::message(error), frames: in_native(error) };
    }

    /// The frames of `raise`, raised as `value`, that are gone: here, or where native code was called.
    pub(in crate::script) fn frames_of(self, raise: &Raise, value: &mlua::Value) -> Vec<Frame> {
        if self.is(raise) { self.frames } else { raised_by_native(value) }
    }

    /// Whether `raise` is the error noted here, perhaps with a position in front.
    fn is(&self, raise: &Raise) -> bool {
        !self.frames.is_empty() && raise.text.ends_with(&self.text)
    }
}

/// The frames that are `gone`, and after them those that still stand, unless these are among them.
pub(in crate::script) fn whole_way(mut gone: Vec<Frame>, standing: Vec<Frame>) -> Vec<Frame> {
    if !gone.ends_with(&standing) || standing.is_empty() {
        gone.extend(standing);
    }
    gone
}

/// The frames that an error of native code tells of: those of the innermost call.
fn raised_by_native(value: &mlua::Value) -> Vec<Frame> {
    let mlua::Value::Error(error) = value else { return Vec::new() };
    in_native(error)
}

fn in_native(error: &mlua::Error) -> Vec<Frame> {
    let (mut error, mut traceback) = (error, None);
    loop {
        match error {
            mlua::Error::CallbackError { traceback: own, cause } => {
                traceback = Some(own.as_str());
                error = &**cause;
            }
            mlua::Error::WithContext { cause, .. } | mlua::Error::BadArgument { cause, .. } => error = &**cause,
            mlua::Error::RuntimeError(text) => {
                return read(text.split_once("stack traceback:").map_or(traceback.unwrap_or_default(), |(_, own)| own));
            }
            _ => return read(traceback.unwrap_or_default()),
        }
    }
}

/// The user's frames in what Lua writes of a stack, innermost first.
fn read(traceback: &str) -> Vec<Frame> {
    traceback.lines().filter_map(|line| frame(line.trim())).collect()
}

/// `lab/a.lua:3: in local 'f'`.
fn frame(line: &str) -> Option<Frame> {
    let (place, what) = line.split_once(": in ")?;
    let (file, number) = place.rsplit_once(':')?;
    let number = number.parse().ok().filter(|_| !is_own(file))?;
    let function = match (what.split_once('\''), what.split_once('<')) {
        _ if what == "main chunk" => what.to_owned(),
        (Some((_, name)), _) => format!("function `{}`", name.trim_end_matches('\'')),
        (_, Some((_, defined))) => {
            format!("function <line {}>", defined.trim_end_matches('>').rsplit(':').next().unwrap_or_default())
        }
        _ => "a function".to_owned(),
    };
    Some(Frame { file: file.to_owned(), line: number, function })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn frames_are_read_from_what_lua_writes() {
        let text = "stack traceback:\n\t[C]: in function 'error'\n\tlab/a:b.lua:3: in local 'f'\n\t[skyfall]:4: in function <[skyfall]:1>\n\t(...tail calls...)\n\ta.lua:12: in function <a.lua:9>\n\ta.lua:20: in main chunk\n\t[C]: in ?";
        let found: Vec<String> =
            read(text).iter().map(|frame| format!("{} {} {}", frame.file, frame.line, frame.function)).collect();
        assert_eq!(found, ["lab/a:b.lua 3 function `f`", "a.lua 12 function <line 9>", "a.lua 20 main chunk"]);
    }
}
