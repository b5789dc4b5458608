//! Policies that learn nothing: `random` and `constant`, the floors of every comparison.
//!
//! They have no weights; their checkpoint is a directory with `policy.json`, which says whose it
//! is.

use std::fs;
use std::path::Path;

use super::settings::Settings;
use super::weights::checkpoint_error;
use super::{Checkpoint, Context, Policy, PolicyError};
use crate::random::Rng;
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::value::Value;

/// The one file of the checkpoint.
const FILE: &str = "policy.json";

/// Draws every action from the action space, with the stream called `policy`.
pub(super) struct RandomPolicy {
    space: Space,
    rng: Rng,
}

impl RandomPolicy {
    pub(super) fn new(mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let rng = Rng::named(settings.seed(context.seed), "policy");
        settings.finish(Some(Self { space: context.action_space.clone(), rng }))
    }
}

impl Policy for RandomPolicy {
    fn act(&mut self, _: &Element, action: &mut Element) -> Result<(), PolicyError> {
        *action = self.space.sample(&mut self.rng);
        Ok(())
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(self.rng.snapshot())
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rng.restore_snapshot(state)
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        save("random", dir)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        load("random", path)
    }
}

/// Takes the same action always.
pub(super) struct ConstantPolicy {
    action: Element,
}

impl ConstantPolicy {
    pub(super) fn new(mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let space = context.action_space;
        let action = match settings.get("action") {
            None => Err(format!("`kwargs.action` is missing: an element of {space}")),
            Some(given) => space.element(given, "kwargs.action").and_then(|action| match space.contains(&action) {
                true => Ok(action),
                false => Err(format!("`kwargs.action` must be an element of {space}")),
            }),
        };
        let action = action.map_err(|message| settings.note(message)).ok();
        settings.finish(action).map(|action| Self { action })
    }
}

impl Policy for ConstantPolicy {
    fn act(&mut self, _: &Element, action: &mut Element) -> Result<(), PolicyError> {
        action.clone_from(&self.action);
        Ok(())
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(Value::Null)
    }

    fn restore(&mut self, _: &Value) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        save("constant", dir)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        load("constant", path)
    }
}

fn text(id: &str) -> String {
    format!("{{\"policy\": \"{id}\"}}\n")
}

fn save(id: &str, dir: &Path) -> Result<Checkpoint, PolicyError> {
    let path = dir.join(FILE);
    fs::write(&path, text(id)).map_err(|cause| checkpoint_error(id, &path, cause.to_string()))?;
    Ok(Checkpoint::Directory)
}

fn load(id: &str, dir: &Path) -> Result<(), PolicyError> {
    let path = dir.join(FILE);
    match fs::read_to_string(&path) {
        Ok(found) if found == text(id) => Ok(()),
        Ok(_) => Err(checkpoint_error(id, &path, "it belongs to another policy".to_owned())),
        Err(cause) => Err(checkpoint_error(id, &path, cause.to_string())),
    }
}
