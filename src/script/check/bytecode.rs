//! Which globals compiled Lua 5.4 reads and sets, and on which lines: the compiler has settled every
//! question of scope by then. Nothing here runs the code, and only the machine's own dump is read.

/// One access to a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) set: bool,
}

/// The instructions that reach a global: a field, by a constant name, of the upvalue `_ENV`.
pub(super) const GET_TABLE_UP: u32 = 11;
pub(super) const SET_TABLE_UP: u32 = 15;
/// The signature, the version and format, the check data, three sizes, an integer and a float.
const HEADER: usize = 4 + 2 + 6 + 3 + 8 + 8;
/// Where a line is not a step from the last, the table of whole lines has it.
const WHOLE_LINE: i8 = -128;

/// One function of a dump.
#[derive(Default)]
pub(super) struct Prototype {
    /// Its instructions.
    pub(super) code: Vec<Instruction>,
    /// The texts among its constants, each at its place.
    pub(super) constants: Vec<Option<String>>,
    /// Which of its upvalues is `_ENV`.
    pub(super) environment: Option<u32>,
    /// The functions written inside it.
    pub(super) inner: Vec<Prototype>,
    lines: Vec<usize>,
    first_line: usize,
}

/// One instruction, its operands as most operations have them.
#[derive(Clone, Copy)]
pub(super) struct Instruction(u32);

impl Instruction {
    pub(super) const fn operation(self) -> u32 {
        self.0 & 0x7f
    }

    pub(super) const fn a(self) -> u32 {
        self.0 >> 7 & 0xff
    }

    pub(super) const fn b(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    pub(super) const fn c(self) -> u32 {
        self.0 >> 24
    }

    /// Whether it is a jump to where the code was before.
    pub(super) const fn leads_back(self) -> bool {
        const ZERO: u32 = (1 << 24) - 1;
        self.0 >> 7 < ZERO
    }
}

/// The main function of a dump, if it is as it should be.
pub(super) fn read(dump: &[u8]) -> Option<Prototype> {
    let mut main = Prototype::default();
    function(&mut Reader { rest: dump.get(HEADER + 1..)? }, &mut main).map(|()| main)
}

/// The globals that the dumped chunk uses, in no particular order; of a dump that is not as it
/// should be, those before the fault.
pub(super) fn globals(dump: &[u8]) -> Vec<Access> {
    let mut main = Prototype::default();
    let _ = function(&mut Reader { rest: dump.get(HEADER + 1..).unwrap_or_default() }, &mut main);
    let mut found = Vec::new();
    main.globals(&mut found);
    found
}

impl Prototype {
    fn globals(&self, found: &mut Vec<Access>) {
        for inner in &self.inner {
            inner.globals(found);
        }
        for (at, word) in self.code.iter().enumerate() {
            let (upvalue, constant) = match word.operation() {
                GET_TABLE_UP => (word.b(), word.c()),
                SET_TABLE_UP => (word.a(), word.b()),
                _ => continue,
            };
            if self.environment == Some(upvalue)
                && let Some(Some(name)) = self.constants.get(constant as usize)
            {
                let line = self.lines.get(at).copied().unwrap_or(self.first_line);
                found.push(Access { name: name.clone(), line, set: word.operation() == SET_TABLE_UP });
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// Seven bits a byte, the highest first; the last byte has its highest bit set.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        loop {
            let byte = self.byte()?;
            number = number.checked_shl(7)? | usize::from(byte & 0x7f);
            if byte & 0x80 != 0 {
                return Some(number);
            }
        }
    }

    fn text(&mut self) -> Option<Option<&'a [u8]>> {
        match self.number()?.checked_sub(1) {
            None => Some(None),
            Some(length) => self.take(length).map(Some),
        }
    }
}

fn function(reader: &mut Reader<'_>, into: &mut Prototype) -> Option<()> {
    reader.text()?;
    into.first_line = reader.number()?;
    reader.number()?;
    reader.take(3)?;
    let count = reader.number()?;
    let words = reader.take(count.checked_mul(4)?)?.chunks_exact(4);
    into.code =
        words.map(|word| Some(Instruction(u32::from_le_bytes(word.try_into().ok()?)))).collect::<Option<_>>()?;
    into.constants = constants(reader)?;
    let upvalues = reader.number()?;
    reader.take(upvalues.checked_mul(3)?)?;
    for _ in 0..reader.number()? {
        let mut inner = Prototype::default();
        let read = function(reader, &mut inner);
        into.inner.push(inner);
        read?;
    }
    into.lines = lines(reader, into.first_line)?;
    for _ in 0..reader.number()? {
        reader.text()?;
        reader.number()?;
        reader.number()?;
    }
    for index in 0..reader.number()? {
        if reader.text()? == Some(b"_ENV") {
            into.environment = u32::try_from(index).ok();
        }
    }
    Some(())
}

/// The texts among the constants, each at its place.
fn constants(reader: &mut Reader<'_>) -> Option<Vec<Option<String>>> {
    let mut constants = Vec::new();
    for _ in 0..reader.number()? {
        constants.push(match reader.byte()? {
            // Short and long strings; floats and integers; nil, false and true.
            0x04 | 0x14 => reader.text()?.map(|text| String::from_utf8_lossy(text).into_owned()),
            0x13 | 0x03 => reader.take(8).map(|_| None)?,
            _ => None,
        });
    }
    Some(constants)
}

/// The line of each instruction.
fn lines(reader: &mut Reader<'_>, first_line: usize) -> Option<Vec<usize>> {
    let count = reader.number()?;
    let steps = reader.take(count)?;
    let mut whole = Vec::new();
    for _ in 0..reader.number()? {
        whole.push((reader.number()?, reader.number()?));
    }
    let mut line = first_line;
    let lines = steps.iter().enumerate().map(|(at, step)| {
        match step.cast_signed() {
            WHOLE_LINE => line = whole.iter().find(|(place, _)| *place == at).map_or(line, |(_, line)| *line),
            step => line = line.saturating_add_signed(isize::from(step)),
        }
        line
    });
    Some(lines.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Access, globals};

    fn used(code: &str) -> Vec<(String, usize, bool)> {
        let dump = mlua::Lua::new().load(code).into_function().unwrap().dump(false);
        let mut found: Vec<_> =
            globals(&dump).into_iter().map(|Access { name, line, set }| (name, line, set)).collect();
        found.sort_by_key(|(_, line, _)| *line);
        found
    }

    #[test]
    fn globals_are_found_with_their_lines_and_locals_are_not() {
        let code = "local print = print\nfor i = 1, 2 do print(i) end\nlocal function f(x)\n  return function() return x + y end\nend\ncount = 1\nM = { t = 1 }\n";
        let expected = [("print", 1, false), ("y", 4, false), ("count", 6, true), ("M", 7, true)];
        assert_eq!(used(code), expected.map(|(name, line, set)| (name.to_owned(), line, set)));
        // Lines far apart, and many of them.
        let long = format!("local a = 1\n{}return a + z", "\n".repeat(400) + &"a = a + 1\n".repeat(300));
        assert_eq!(used(&long), [("z".to_owned(), 702, false)]);
    }

    #[test]
    fn what_is_no_dump_has_none() {
        assert!(globals(b"").is_empty() && globals(&[0xff; 100]).is_empty() && globals(&[0; 100]).is_empty());
    }
}
