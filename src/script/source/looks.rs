//! Which fields of its parameter a recorded function can look at: a judgement on its text.

use std::collections::BTreeSet;

use super::lexer::tokens;

/// The names that the function which the chunk returns looks up in its first parameter; `None` if
/// the text does not tell, as where the parameter is handed on or indexed by a value.
pub(in crate::script) fn fields_looked_at(chunk: &str) -> Option<BTreeSet<&str>> {
    let tokens = tokens(chunk);
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text);
    let mut depth = 0_usize;
    let mut body = None;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "function" | "if" | "do" | "repeat" => depth += 1,
            "end" | "until" => depth = depth.checked_sub(1)?,
            // A chunk's own `return` is its last statement.
            "return" if depth == 0 => body = Some(index + 1),
            _ => {}
        }
    }
    let body = body.filter(|body| text(*body) == "function" && text(body + 1) == "(")?;
    let parameter = text(body + 2);
    if !parameter.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic()) {
        return None;
    }
    let mut fields = BTreeSet::new();
    for index in body + 3..tokens.len() {
        if text(index) != parameter || text(index - 1) == "." {
            continue;
        }
        let field = text(index + 2);
        if text(index + 1) != "." || !field.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic()) {
            return None;
        }
        fields.insert(field);
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::fields_looked_at;

    fn told(chunk: &str) -> Option<Vec<&str>> {
        fields_looked_at(chunk).map(|fields| fields.into_iter().collect())
    }

    #[test]
    fn plain_looks_are_told() {
        assert_eq!(told("return function(s) return s.a.s + s . b -- s\n end"), Some(vec!["a", "b"]));
        let captured = "local help, k\nk = { s = 1 }\nhelp = function(s) return s end\nreturn function(step, ...)\nif step.x then return help(k.step) end\nreturn 'step' end\n";
        assert_eq!(told(captured), Some(vec!["x"]));
        assert_eq!(told("return function(s) return 1 end"), Some(vec![]));
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        for chunk in [
            "return function(s) return f(s) end",
            "return function(s) local t = s return t.a end",
            "return function(s) return s['a'] end",
            "return function(s) return s:a() end",
            "return function(s) return s .. 1 end",
            "return function(s) return { s } end",
            "return function(...) local s = ... return s.a end",
            "return function() return 1 end",
            "local f = function(s) return s.a end\nreturn f",
            "return f(function(s) return s.a end)",
            "return setmetatable({}, {})",
            "",
        ] {
            assert_eq!(told(chunk), None, "{chunk}");
        }
    }
}
