//! A step as Lua code sees it, cheap enough to be looked at in every one of a million steps.
//!
//! Crossing the border costs more than the work of a term, so it is crossed once a step: the
//! numbers that the code was seen to look up go along as arguments of one call into a few lines
//! of Lua ([`layout`]), which put them where the code will find them and call it. A number looked
//! up for the first time, and whatever is rarely asked for, is fetched from a copy of the step
//! ([`frame`]). The code gets the same `s` at every step, and the same lists in it,
//! written over from step to step; it cannot add anything to them.

mod frame;
mod layout;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{FromLuaMulti, Function, IntoLua, Lua, Table, Value as LuaValue};

use crate::reward::{Known, StepView};
use crate::script::{convert, source};
use frame::Frame;
use layout::{Arguments, Field, Layout};

/// How many layouts are kept: a run has one, or a few.
const LAYOUTS: usize = 8;
/// Where a term finds what it was made with.
const PARAMS: &str = "params";

/// A Lua function that is called with steps.
pub(super) struct StepCall {
    lua: Lua,
    function: Function,
    /// What the function gets before the step.
    owner: Option<Table>,
    /// `s`.
    view: Table,
    /// Where `s` finds what was fed.
    fed: Table,
    sight: Rc<Sight>,
    /// The feeding functions, the one in use first.
    feeds: Vec<(Layout, Function)>,
    /// What the layout in use was chosen for: the fields asked for, and those known.
    key: Option<(u8, Known)>,
    arguments: Arguments,
    /// The regime's label, here and there.
    label: (Option<String>, LuaValue),
}

/// What the code can see, and what it looked at.
struct Sight {
    frame: RefCell<Frame>,
    /// The fields ever looked up, as bits; those that the code's text shows from the beginning.
    asked: Cell<u8>,
    looks: Looks,
}

/// What the code's text says of what it looks up.
#[derive(Clone, Copy)]
struct Looks {
    /// The fields that may be fed, as bits.
    fields: u8,
    /// Whether it may look up others.
    others: bool,
}

impl Looks {
    /// Anything.
    const ALL: Self = Self { fields: u8::MAX, others: true };

    /// Those of the function that the chunk `recorded` returns, where its text tells.
    fn of(recorded: &str) -> Option<Self> {
        let names = source::fields_looked_at(recorded)?;
        let bits = |bits, name: &&str| bits | Field::named(name).map_or(0, Field::bit);
        let others = names.iter().any(|name| Field::named(name).is_none() && *name != PARAMS);
        Some(Self { fields: names.iter().fold(0, bits), others })
    }

    /// Whether code that was fed the fields with the bits `fed` may look for something else.
    fn beyond(self, fed: u8) -> bool {
        // A label that is nil cannot be told from one that was not fed.
        self.others || self.fields & (!fed | Field::RegimeId.bit()) != 0
    }
}

impl StepCall {
    /// Calls `function(s)`, or `function(owner, s, reward)`; `params` are `s.params`. The text of
    /// a `function(s)` as it was recorded, if it was, saves copying what it does not look at.
    ///
    /// # Errors
    /// When the machine is out of memory.
    pub(super) fn new(
        lua: &Lua,
        function: Function,
        owner: Option<Table>,
        params: Table,
        recorded: Option<&str>,
    ) -> mlua::Result<Self> {
        let foreseen = recorded.and_then(Looks::of);
        let asked = Cell::new(foreseen.map_or(0, |looks| looks.fields));
        let sight = Rc::new(Sight { frame: RefCell::default(), asked, looks: foreseen.unwrap_or(Looks::ALL) });
        let fed = lua.create_table()?;
        fed.raw_set(PARAMS, params)?;
        let beyond = lua.create_table()?;
        let look = Rc::clone(&sight);
        let index = lua.create_function(move |lua, (fed, name): (Table, LuaValue)| look.up(lua, &fed, &name))?;
        beyond.raw_set("__index", index)?;
        fed.set_metatable(Some(beyond))?;
        let view = lua.create_table()?;
        view.set_metatable(Some(frame::guard(lua, "step", LuaValue::Table(fed.clone()))?))?;
        Ok(Self {
            lua: lua.clone(),
            function,
            owner,
            view,
            fed,
            sight,
            feeds: Vec::new(),
            key: None,
            arguments: Arguments::default(),
            label: (None, LuaValue::Nil),
        })
    }

    /// The machine that the function is of.
    pub(super) fn lua(&self) -> &Lua {
        &self.lua
    }

    /// Calls the function with `step`; `reward` is its last argument where it has an owner.
    ///
    /// # Errors
    /// What the function raises.
    pub(super) fn call<R: FromLuaMulti>(&mut self, step: &StepView<'_>, reward: Option<f64>) -> mlua::Result<R> {
        self.label(step.regime_id)?;
        let key = (self.sight.asked.get(), step.known);
        if self.key != Some(key) || !self.push(step) {
            self.key = Some(key);
            self.change(Layout::of(step, key.0))?;
            self.push(step);
        }
        if let Some(reward) = reward {
            self.arguments.put(LuaValue::Number(reward));
        }
        let Some((layout, feed)) = self.feeds.first() else {
            return Err(mlua::Error::runtime("a step without a layout"));
        };
        let (fed, looks) = (layout.bits(), self.sight.looks);
        if looks.beyond(fed) {
            // What goes along need not be copied, nor what no one looks at.
            self.sight.frame.borrow_mut().fill(step, looks.fields & !fed);
        }
        feed.call(self.arguments.all())
    }

    /// Makes the arguments of `step`; whether the layout in use fits it.
    fn push(&mut self, step: &StepView<'_>) -> bool {
        self.arguments.begin();
        self.feeds.first().is_some_and(|(layout, _)| layout.push(step, &self.label.1, &mut self.arguments))
    }

    /// Makes the regime's label a value of the script's, anew only when it changes.
    fn label(&mut self, id: Option<&str>) -> mlua::Result<()> {
        if self.label.0.as_deref() != id {
            self.label = (id.map(str::to_owned), id.into_lua(&self.lua)?);
        }
        Ok(())
    }

    /// Steps are fed as `layout` says from now on; what it does not feed is not to be found as it
    /// was.
    fn change(&mut self, layout: Layout) -> mlua::Result<()> {
        for field in Field::ALL {
            self.fed.raw_set(field.name(), LuaValue::Nil)?;
        }
        if let Some(position) = self.feeds.iter().position(|(known, _)| *known == layout) {
            self.feeds.swap(0, position);
            return Ok(());
        }
        let feed = layout.feed(&self.lua, &self.function, self.owner.as_ref(), &self.view, &self.fed)?;
        self.feeds.truncate(LAYOUTS - 1);
        self.feeds.insert(0, (layout, feed));
        Ok(())
    }
}

impl Sight {
    /// What the code looked up and did not find in `fed`.
    fn up(&self, lua: &Lua, fed: &Table, name: &LuaValue) -> mlua::Result<LuaValue> {
        let name = convert::key_text(name);
        let frame = self.frame.borrow();
        let value = frame.look_up(lua, &name)?;
        debug_assert!(
            Field::named(&name).is_none_or(|field| self.looks.fields & field.bit() != 0),
            "{name} unforeseen"
        );
        // From the next step on it goes along with the call. What was asked for before and did not
        // go along must not be found in `fed` at later steps, which may be of another kind.
        let asked = self.asked.get();
        if let Some(field) = Field::named(&name)
            && asked & field.bit() == 0
            && frame.feeds(field)
        {
            self.asked.set(asked | field.bit());
            fed.raw_set(name, &value)?;
        }
        Ok(value)
    }
}
