//! Why object storage did not do what was asked of it.

use std::path::PathBuf;

use crate::diagnostic::{Exit, Problem};

/// Why an object could not be read, written or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// This program knows no object storage.
    #[error("this build of skyfall leaves out object storage")]
    Unbuilt,
    /// No address.
    #[error("`{address}` is no address of an object: {what}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A setting of the environment is missing or wrong.
    #[error("{name} {what}")]
    Setting {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The storage does not let us.
    #[error("`{address}`: {endpoint} refuses access ({what})")]
    Denied {
        /// What was asked for.
        address: String,
        /// The storage.
        endpoint: String,
        /// Its words.
        what: String,
    },
    /// There is no such bucket.
    #[error("there is no bucket `{bucket}` at {endpoint}")]
    NoBucket {
        /// The bucket.
        bucket: String,
        /// The storage.
        endpoint: String,
    },
    /// The storage does not answer, or not now.
    #[error("{endpoint} cannot be reached, tried {tries} times: {what}")]
    Unreachable {
        /// The storage.
        endpoint: String,
        /// How often it was tried.
        tries: u32,
        /// What came of it.
        what: String,
    },
    /// The storage answers otherwise than it should.
    #[error("`{address}`: {endpoint} answers {what}")]
    Refused {
        /// What was asked for.
        address: String,
        /// The storage.
        endpoint: String,
        /// The status, and what it says.
        what: String,
    },
    /// The storage replaces objects where it was told not to.
    #[error("{endpoint} ignores `If-None-Match: *`, so that two runs could both promote a shard")]
    Unconditional {
        /// The storage.
        endpoint: String,
    },
    /// What stands there is not what was written or listed.
    #[error("`{address}`: {what}")]
    Changed {
        /// The object.
        address: String,
        /// What is other than it should be.
        what: String,
    },
    /// A file that is to be written there cannot be read.
    #[error("cannot read `{}`: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        what: String,
    },
}

impl ObjectError {
    /// Whether it may go better another time.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

impl Problem for ObjectError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unbuilt => "object/unbuilt",
            Self::Address { .. } => "object/address",
            Self::Setting { .. } => "object/setting",
            Self::Denied { .. } => "object/denied",
            Self::NoBucket { .. } => "object/no-bucket",
            Self::Unreachable { .. } => "object/unreachable",
            Self::Refused { .. } => "object/refused",
            Self::Unconditional { .. } => "object/unconditional",
            Self::Changed { .. } => "object/changed",
            Self::File { .. } => "object/file",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unbuilt => "build it with `cargo build --release --features s3`",
            Self::Address { .. } => "an address is `s3://BUCKET/KEY`",
            Self::Denied { .. } => {
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN say who asks, AWS_REGION where"
            }
            Self::NoBucket { .. } | Self::Unreachable { .. } => {
                "AWS_ENDPOINT_URL says where the storage is; without it, that is AWS in AWS_REGION"
            }
            Self::Unconditional { .. } => "use storage that knows conditional writes, or promote to a directory",
            Self::Setting { .. } | Self::Refused { .. } | Self::Changed { .. } | Self::File { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
