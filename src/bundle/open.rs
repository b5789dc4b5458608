//! Opening a bundle: the manifest, and what it takes to rebuild the policy.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::manifest::{CheckpointFormat, Manifest};
use super::{BundleError, MANIFEST, checkpoint};
use crate::experiment::{Catalog, ExperimentError};
use crate::policy::{Context, Policy};
use crate::reward::Composition;
use crate::space::Space;
use crate::value::Value;

/// The largest manifest that is read.
const LARGEST: u64 = 64 << 20;

/// An opened bundle. Its manifest is well-formed; everything else is checked when it is used.
#[derive(Clone, Debug)]
pub struct Bundle {
    dir: PathBuf,
    manifest: Manifest,
}

impl Bundle {
    /// Opens the bundle at `dir`.
    ///
    /// # Errors
    /// When there is none, or its manifest is malformed or of another version.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, BundleError> {
        let dir = dir.as_ref();
        let path = dir.join(MANIFEST);
        let read = || -> std::io::Result<String> {
            let (root, real) = (dir.canonicalize()?, path.canonicalize()?);
            if !real.starts_with(root) || !real.is_file() {
                return Err(std::io::Error::other("it is not a file of the bundle"));
            }
            let mut text = String::new();
            let length = File::open(&path)?.take(LARGEST + 1).read_to_string(&mut text)?;
            if u64::try_from(length).is_ok_and(|length| length <= LARGEST) {
                return Ok(text);
            }
            Err(std::io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20)))
        };
        if fs::metadata(&path).is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound) {
            return Err(BundleError::Missing { dir: dir.display().to_string() });
        }
        let text = read().map_err(|source| BundleError::Read { path: path.display().to_string(), source })?;
        let manifest = Manifest::from_yaml(&text)
            .map_err(|source| BundleError::Manifest { path: path.display().to_string(), source })?;
        Ok(Self { dir: dir.to_owned(), manifest })
    }

    /// Where the bundle stands.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// `base` with the environment and the policy that the manifest defines by value.
    ///
    /// # Errors
    /// When a definition was changed, does not compile, or `base` rebuilds no scripts.
    pub fn catalog(&self, base: &Catalog) -> Result<Catalog, BundleError> {
        let mut catalog = base.clone();
        let Manifest { env, policy, .. } = &self.manifest;
        if let Some(code) = &env.lua {
            catalog = catalog.with_recorded_env(&env.id, code).map_err(ExperimentError::from)?;
        }
        if let (Some(code), Some(id)) = (&policy.lua, &policy.id) {
            catalog = catalog.with_recorded_policy(id, code)?;
        }
        Ok(catalog)
    }

    /// The training run's seed; 0 where the manifest has none.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match self.manifest.run.get("seed") {
            Some(Value::BigInt(text)) => text.parse().unwrap_or_default(),
            seed => seed.and_then(Value::as_int).and_then(|seed| u64::try_from(seed).ok()).unwrap_or_default(),
        }
    }

    /// The observation and the action space: the recorded ones, or the rebuilt environment's
    /// where the manifest has none.
    ///
    /// # Errors
    /// When they cannot be decoded, or the environment cannot be rebuilt.
    pub fn spaces(&self, catalog: &Catalog) -> Result<[Space; 2], BundleError> {
        let observation = self.space("observation_space", self.manifest.observation_space.as_ref())?;
        let action = self.space("action_space", self.manifest.action_space.as_ref())?;
        if let (Some(observation), Some(action)) = (&observation, &action) {
            return Ok([observation.clone(), action.clone()]);
        }
        let env = self
            .catalog(catalog)?
            .env(&self.manifest.env.id, &self.manifest.env.kwargs)
            .map_err(ExperimentError::from)?;
        Ok([
            observation.unwrap_or_else(|| env.observation_space().clone()),
            action.unwrap_or_else(|| env.action_space().clone()),
        ])
    }

    /// The recorded space in `field`, if there is one.
    pub(super) fn space(&self, field: &'static str, encoded: Option<&Value>) -> Result<Option<Space>, BundleError> {
        let decoded = encoded.filter(|encoded| !encoded.is_null()).map(Space::decode).transpose();
        decoded.map_err(|source| self.fault(field, format!("cannot be decoded: {source}")))
    }

    /// The policy, rebuilt and restored, ready to act in the recorded spaces.
    ///
    /// # Errors
    /// When the bundle cannot be served, the checkpoint does not resolve within it, or the policy
    /// cannot be rebuilt or restored.
    pub fn policy(&self, catalog: &Catalog) -> Result<Box<dyn Policy>, BundleError> {
        let [observation_space, action_space] = self.spaces(catalog)?;
        let seed = self.seed();
        self.policy_for(catalog, Context { observation_space: &observation_space, action_space: &action_space, seed })
    }

    /// The policy, rebuilt and restored, for what `context` says.
    pub(super) fn policy_for(&self, catalog: &Catalog, context: Context<'_>) -> Result<Box<dyn Policy>, BundleError> {
        let entry = &self.manifest.policy;
        let (id, format) = self.servable()?;
        let checkpoint = checkpoint::resolve(&self.dir, entry, format)
            .map_err(|message| self.fault("policy.checkpoint", message))?;
        let mut policy = self.catalog(catalog)?.policy(id, &entry.kwargs, context)?;
        policy.load(&checkpoint)?;
        Ok(policy)
    }

    /// The policy's id and how it restores.
    fn servable(&self) -> Result<(&str, CheckpointFormat), BundleError> {
        let refuse = |message| BundleError::NotServable { path: self.path(), message };
        let id = self.manifest.policy.id.as_deref().ok_or_else(|| {
            refuse("`policy.id` is null, so the run's algorithm built its own policy, which no name rebuilds")
        })?;
        let format =
            self.manifest.policy.format.ok_or_else(|| {
                refuse("`policy.format` is absent, so the policy saved nothing that could be restored")
            })?;
        Ok((id, format))
    }

    /// How the run was scored; `None` when the environment scored itself.
    ///
    /// # Errors
    /// When the specification is not one of ours, or a term cannot be rebuilt.
    pub fn reward(&self, catalog: &Catalog) -> Result<Option<Composition>, BundleError> {
        let record = self.manifest.reward();
        let record = record.map_err(|source| BundleError::RewardSpec { path: self.path(), source })?;
        let composition = record.map(|record| catalog.composition(&record)).transpose();
        Ok(composition.map_err(ExperimentError::from)?)
    }

    pub(super) fn fault(&self, field: &'static str, message: String) -> BundleError {
        BundleError::Field { path: self.path(), field, message }
    }

    /// The manifest's path, for messages.
    fn path(&self) -> String {
        self.dir.join(MANIFEST).display().to_string()
    }
}

/// Opens the bundle at `dir` and verifies that it can be served: the spaces decode, the
/// checkpoint resolves, and policy, reward, wrappers and regime can be rebuilt.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(dir: impl AsRef<Path>, catalog: &Catalog) -> Result<Bundle, BundleError> {
    let bundle = Bundle::open(dir)?;
    bundle.policy(catalog)?;
    bundle.reward(catalog)?;
    let env = &bundle.manifest.env;
    if !env.wrappers.is_empty() {
        let catalog = bundle.catalog(catalog)?;
        catalog.wrapped_env(&env.id, &env.kwargs, &env.wrappers).map_err(ExperimentError::from)?;
    }
    catalog.provider(&bundle.manifest.regime, bundle.seed()).map_err(ExperimentError::from)?;
    Ok(bundle)
}
