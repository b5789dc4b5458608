//! Whether recorded code keeps state from one call to the next: a judgement on its text, on the
//! safe side. Code that passes answers from its arguments alone; code that does not may still.

use std::collections::BTreeSet;

use super::lexer::{Token, tokens};

/// Functions that change a table.
const MUTATORS: [&str; 5] = ["insert", "remove", "sort", "move", "setmetatable"];

/// Checks the chunk that [`super::record`] made of a function.
///
/// # Errors
/// The rest of a sentence that begins with what the code is: how it keeps state.
pub(in crate::script) fn check_stateless(chunk: &str) -> Result<(), String> {
    let tokens = tokens(chunk);
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text);
    let mut blocks: Vec<&str> = Vec::new();
    // Scopes are not followed: a name that is captured is never taken for a local of the same name.
    let (mut own, mut captured) = (BTreeSet::new(), BTreeSet::new());
    let mut mutates = None;
    let mut captures_table = false;
    for (index, token) in tokens.iter().enumerate() {
        let inside = blocks.contains(&"function");
        match token.text {
            "function" => {
                own.extend(parameters(&tokens, index));
                blocks.push("function");
            }
            "if" | "do" | "repeat" | "{" => blocks.push(token.text),
            "end" | "until" | "}" => drop(blocks.pop()),
            "local" if !inside => captured.extend(declared(&tokens, index + 1)),
            "local" | "for" if inside => own.extend(declared(&tokens, index + 1)),
            "random" if text(index.wrapping_sub(1)) == "." && text(index.wrapping_sub(2)) == "math" => {
                return Err("draws from math.random".to_owned());
            }
            // It gets past what guards a step's lists.
            "rawset" if inside => return Err("sets fields with rawset".to_owned()),
            name if MUTATORS.contains(&name) && inside => mutates = Some(name.to_owned()),
            // An attribute stands only where a local variable is declared.
            "=" if text(index.wrapping_sub(1)) == ">" => {}
            "=" if inside && blocks.last() != Some(&"{") => {
                for target in targets(&tokens, index) {
                    match target {
                        Target::Name(name) if !own.contains(name) || captured.contains(name) => {
                            return Err(format!("keeps state in the variable `{name}`, which it assigns"));
                        }
                        Target::Field(base) if !own.contains(base) || captured.contains(base) => {
                            return Err(format!("keeps state in `{base}`, whose fields it assigns"));
                        }
                        Target::Field(base) => mutates = Some(base.to_owned()),
                        Target::Name(_) => {}
                    }
                }
            }
            _ => {}
        }
        captures_table |= token.text == "{" && !inside;
    }
    match mutates {
        Some(what) if captures_table => Err(format!("captures a table and changes tables (`{what}`)")),
        _ => Ok(()),
    }
}

/// What stands left of an `=`.
enum Target<'a> {
    Name(&'a str),
    /// A field of something that begins with this name.
    Field(&'a str),
}

/// The targets of the assignment whose `=` is at `index`, the last first.
fn targets<'a>(tokens: &[Token<'a>], index: usize) -> Vec<Target<'a>> {
    let mut targets = Vec::new();
    let mut end = index;
    while let Some(last) = end.checked_sub(1) {
        let (begin, target) = target(tokens, last);
        targets.push(target);
        match begin.checked_sub(1) {
            Some(comma) if tokens.get(comma).is_some_and(|token| token.text == ",") => end = comma,
            _ => break,
        }
    }
    targets
}

/// The target whose last token is at `last`, and where it begins.
fn target<'a>(tokens: &[Token<'a>], last: usize) -> (usize, Target<'a>) {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text);
    let mut at = last;
    let mut field = false;
    loop {
        if text(at) == "]" {
            field = true;
            let mut depth = 1_usize;
            while depth > 0 && at > 0 {
                at -= 1;
                match text(at) {
                    "]" => depth += 1,
                    "[" => depth -= 1,
                    _ => {}
                }
            }
            at = at.saturating_sub(1);
        } else if at > 1 && text(at - 1) == "." {
            field = true;
            at -= 2;
        } else {
            let name = text(at);
            return (at, if field { Target::Field(name) } else { Target::Name(name) });
        }
    }
}

/// The names of the parameters of the function whose keyword is at `index`.
fn parameters<'a>(tokens: &[Token<'a>], index: usize) -> Vec<&'a str> {
    let open = tokens.iter().skip(index).take_while(|token| token.text != ")").skip_while(|token| token.text != "(");
    open.skip(1).map(|token| token.text).filter(|text| *text != ",").collect()
}

/// The names that a `local` or `for` before `index` declares.
fn declared<'a>(tokens: &[Token<'a>], index: usize) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut rest = tokens.iter().skip(index).map(|token| token.text);
    let mut expects_name = true;
    while let Some(text) = rest.next() {
        match text {
            "," => expects_name = true,
            "<" => drop(rest.by_ref().find(|text| *text == ">")),
            name if expects_name => {
                names.push(name);
                expects_name = false;
            }
            _ => break,
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::check_stateless;

    fn verdict(body: &str) -> Result<(), String> {
        check_stateless(&format!("local n, t, f\nn = 0\nf = function(x) return x end\nreturn function(s)\n{body}\nend"))
    }

    #[test]
    fn code_that_answers_from_its_arguments_passes() {
        for body in [
            "return s.env_reward + n",
            "local a, b <const> = n, 2 a = a + b for i = 1, 3 do a = a + i end return a",
            "local own = { n = 1, m = { n = 2 } } own.n = 3 own[1] = 4 return own.n == n and 1 or 0",
            "local function g(y) y = y + 1 return y end if n >= 1 then return g(2) end return f(n)",
        ] {
            assert_eq!(verdict(body), Ok(()), "{body}");
        }
    }

    #[test]
    fn code_that_keeps_state_does_not() {
        for (body, says) in [
            ("n = n + 1 return n", "`n`"),
            ("local a a, n = 1, 2 return n", "`n`"),
            ("n, a = 1, 2 return n", "`a`"),
            ("t.count = 1 return 1", "`t`"),
            ("t[s.step].x = 1 return 1", "`t`"),
            ("count = 1 return 1", "`count`"),
            ("return math.random()", "math.random"),
            ("local function g() n = 1 end g() return n", "`n`"),
            ("do local n = 1 end n = n + 1 return n", "`n`"),
        ] {
            assert!(verdict(body).is_err_and(|line| line.contains(says)), "{body}");
        }
        let chunk = "local t\nt = { 1 }\nreturn function(s) local own = t own[1] = 2 return own[1] end";
        assert!(check_stateless(chunk).is_err());
        let chunk = "local t\nt = { 1 }\nreturn function(s) table.insert(t, 1) return #t end";
        assert!(check_stateless(chunk).is_err());
        let chunk = "local t\nt = { 1 }\nreturn function(s) return t[1] end";
        assert!(check_stateless(chunk).is_ok());
    }
}
