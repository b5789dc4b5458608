//! A build without object storage says so.

use crate::command::Scratch;

#[test]
fn an_address_is_told_how_it_could_be_read() {
    let words = ["this build of skyfall leaves out object storage", "cargo build --release --features s3"];
    for command in ["validate", "info"] {
        Scratch::new().skyfall(&["rollouts", command, "s3://bucket/store.zarr"]).failed(3, &words);
    }
}
