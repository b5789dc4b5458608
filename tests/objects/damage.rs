//! What happens to objects after their promotion is noticed, and nothing is written over it.

use super::{Remote, marker};

const SHARD: &str = "shard-000000";

#[test]
fn changed_objects_are_noticed_and_left_alone() {
    let campaign = Remote::new(1);
    campaign.run(&["--shard-id", "0"]).ok();
    let winner = campaign.winner(SHARD);
    let place = format!("c/{SHARD}");
    let key = format!("{winner}/candidates/pose_world_cam/c/0/0");
    let sound = campaign.storage.get(&key).unwrap();

    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    campaign.storage.put(&key, &flipped);
    let told = campaign.validate(&place).failed(1, &[]).stdout;
    assert!(told.contains("candidates/pose_world_cam"), "{told}");
    assert!(campaign.status().failed(1, &[]).stdout.contains("1 incomplete"));
    campaign.run(&["--shard-id", "0"]).failed(1, &["campaign/conflict", "is not shard-000000 as it is planned"]);
    assert_eq!(campaign.storage.get(&key).unwrap(), flipped);

    campaign.storage.put(&key, &sound[..sound.len() - 7]);
    let told = campaign.validate(&place).failed(1, &[]).stdout;
    assert!(told.contains("candidates/pose_world_cam"), "{told}");

    campaign.storage.delete(&key);
    let told = campaign.validate(&place).failed(1, &[]).stdout;
    assert!(told.contains("candidates/pose_world_cam") && told.contains("missing"), "{told}");

    campaign.storage.put(&key, &sound);
    campaign.validate(&place).ok();
    // A marker of what is not there, and one that is none.
    let success = String::from_utf8(campaign.storage.get(&marker(SHARD)).unwrap()).unwrap();
    campaign.storage.put(&marker(SHARD), success.replace("attempts/", "attempts/no-").as_bytes());
    campaign.validate(&place).failed(3, &["rollouts/not-a-store", "it has no `zarr.json`"]);
    campaign.storage.put(&marker(SHARD), b"{");
    campaign.validate(&place).failed(3, &["rollouts/not-a-store"]);
    campaign.run(&["--shard-id", "0"]).failed(1, &["campaign/conflict"]);
    assert_eq!(campaign.storage.get(&marker(SHARD)).unwrap(), b"{");
}
