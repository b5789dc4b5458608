//! Whether compiled Lua 5.4 ends soon whatever it is given: then nothing needs to count its
//! instructions, which costs about as much as they do. A judgement on the safe side, on the machine's
//! own code, which unlike a text cannot be misread.
//!
//! What passes is a chunk that makes plain data and returns one function: no instruction leads back,
//! no function is made that another could call, and of the globals only `math` is in reach. So it runs
//! each instruction once at the most, and calls functions of the library that do as much.

use super::bytecode::{GET_TABLE_UP, Instruction, Prototype, read};

const MOVE: u32 = 0;
const LOAD_NIL: u32 = 8;
const GET_UPVALUE: u32 = 9;
const SET_UPVALUE: u32 = 10;
const GET_TABLE: u32 = 12;
const GET_FIELD: u32 = 14;
const SET_TABLE: u32 = 16;
const NEW_TABLE: u32 = 19;
const ADD_IMMEDIATE: u32 = 21;
const CONCATENATE: u32 = 53;
const JUMP: u32 = 56;
const EQUAL: u32 = 57;
const TEST_SET: u32 = 67;
const CALL: u32 = 68;
const TAIL_CALL: u32 = 69;
const RETURN: u32 = 70;
const RETURN_ONE: u32 = 72;
const SET_LIST: u32 = 78;
const CLOSURE: u32 = 79;
const VARIADIC_PREPARE: u32 = 81;
const EXTRA_ARGUMENT: u32 = 82;

/// Whether the dumped chunk, and the function that it returns, end soon.
pub(in crate::script) fn ends(dump: &[u8]) -> bool {
    let Some(main) = read(dump) else { return false };
    let [function] = main.inner.as_slice() else { return false };
    let closures = main.code.iter().filter(|word| word.operation() == CLOSURE).count();
    // The function is returned as it is made: no variable that it captures can hold it.
    let returned = main.code.windows(2).any(|pair| {
        matches!(pair, [made, next] if made.operation() == CLOSURE && matches!(next.operation(), RETURN..=RETURN_ONE) && made.a() == next.a())
    });
    let sound = |word: &Instruction| is_data(*word) || word.operation() == CLOSURE;
    closures == 1
        && returned
        && function.inner.is_empty()
        && main.code.iter().all(sound)
        && function.code.iter().all(|word| is_step(function, *word))
}

/// An instruction that makes plain data, or returns.
fn is_data(word: Instruction) -> bool {
    matches!(
        word.operation(),
        MOVE..=LOAD_NIL | GET_TABLE..=GET_FIELD | SET_TABLE..=NEW_TABLE | ADD_IMMEDIATE..=CONCATENATE
            | RETURN..=RETURN_ONE | SET_LIST | VARIADIC_PREPARE | EXTRA_ARGUMENT
    )
}

/// An instruction of the function that leads on, with no global but `math`.
fn is_step(function: &Prototype, word: Instruction) -> bool {
    let is_environment = |upvalue: u32| function.environment == Some(upvalue);
    match word.operation() {
        GET_UPVALUE => !is_environment(word.b()),
        SET_UPVALUE => !is_environment(word.b()),
        GET_TABLE_UP if is_environment(word.b()) => {
            function.constants.get(word.c() as usize).is_some_and(|name| name.as_deref() == Some("math"))
        }
        GET_TABLE_UP => true,
        JUMP => !word.leads_back(),
        EQUAL..=TEST_SET | CALL | TAIL_CALL => true,
        _ => is_data(word),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::ends;

    fn told(code: &str) -> bool {
        ends(&mlua::Lua::new().load(code).into_function().unwrap().dump(false))
    }

    #[test]
    fn straight_code_ends() {
        for code in [
            "return function(s) return math.cos(s.next_observation[3]) end",
            "local width, goal\nwidth = 2.4\ngoal = { [1] = 0.5, [2] = { x = -1 } }\nreturn function(s)\n\
             local x = s.observation[1]\nif x > goal[1] and not s.terminated then return -x, { distance = math.abs(x) } end\n\
             return 1 - math.abs(x) / width end",
            "local count = 0 return function(s) count = count + 1 return count end",
            "return function(s) return -2 ^ 3 // 1 .. 'x' end",
        ] {
            assert!(told(code), "{code}");
        }
    }

    #[test]
    fn what_might_not_end_is_counted() {
        for code in [
            "while true do end",
            "while true do end return function() end",
            "return function(s) while s.step do end end",
            "return function(s) repeat until s.step end",
            "return function(s) for i = 1, 1e18 do end end",
            "return function(s) for k in s.f do end end",
            "return function(s) ::a:: if s.step then goto a end end",
            "local f f = function(s) return f(s) end return f",
            "local t = {} t.f = function(s) return t.f(s) end return t.f",
            "local g = function() end return function(s) return g() end",
            "return function(s) local function g() return g() end return g() end",
            "return (function() while true do end end)()",
            "return function(s) return load(s.code)() end",
            "return function(s) return string.rep('x', 1 << 40) end",
            "return function(s) return s:again() end",
            "local e = _ENV return function(s) return e.load(s.code) end",
            "return function(s) local e = _ENV return e.load(s.code) end",
            "return function(s) _ENV.x = 1 end",
            "x = function(s) return x(s) end return x",
            "return function(...) return ... end",
            "local x <close> = nil return function() end",
            "return require('skyfall.stats').mean",
            "",
        ] {
            assert!(!told(code), "{code}");
        }
        assert!(!ends(b"") && !ends(&[0xff; 200]));
    }
}
