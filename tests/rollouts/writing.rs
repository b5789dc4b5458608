//! What is written is what the tables say, and the same bytes every time.

use std::collections::BTreeMap;
use std::path::Path;

use skyfall::rollouts::{Store, Writer, write_rollout_zarr_store};
use skyfall::value::Value;

use super::records::{config, records};

/// Every file below a directory with its bytes.
pub fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(directory, directory, &mut found);
    found
}

#[test]
fn a_store_holds_what_the_records_say() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("rollouts.zarr");
    let result = write_rollout_zarr_store(&records(3), config(&directory)).unwrap();
    assert_eq!((result.num_rollouts, result.num_steps), (6, 24));
    assert_eq!(result.store_dir, directory);

    let store = Store::open(&directory).unwrap();
    assert_eq!(store.attributes()["num_candidates"], Value::Int(result.num_candidates as i64));
    assert_eq!(store.attributes()["manifest_sha256"].as_text(), Some(result.manifest_sha256.as_str()));
    let rows = store.array("candidates/pose_world_cam").unwrap();
    assert_eq!(rows.shape(), [result.num_candidates, 12]);
    let indexes = store.array("steps/step_index").unwrap();
    assert_eq!(indexes.as_i16().unwrap()[..5], [0, 1, 2, 3, 0]);
    let manifest = store.manifest().unwrap();
    assert_eq!(manifest.as_map().unwrap()["counts"].as_map().unwrap()["sources"], Value::Int(3));
    let yaw = store.array("candidate_diagnostics/motion_yaw_delta_deg").unwrap();
    assert!((yaw.as_f32().unwrap()[0] - 0.5_f32.to_degrees()).abs() < 1e-5);
    let scratch_entries = std::fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(scratch_entries, 1, "staging directories are gone");
}

#[test]
fn the_view_derives_again_with_another_discount() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("rollouts.zarr");
    write_rollout_zarr_store(&records(2), config(&directory)).unwrap();
    let store = Store::open(&directory).unwrap();
    let (persisted, half) = (store.q_h_view(None).unwrap(), store.q_h_view(Some(0.5)).unwrap());
    assert_eq!(persisted.len(), 17);
    for (name, array) in &persisted {
        if name == "td_discount" {
            let discounts = |array: &skyfall::array::Array| array.as_f32().unwrap()[..4].to_vec();
            assert_eq!(discounts(array), [0.95, 0.95, 0.95, 0.0]);
            assert_eq!(discounts(&half[name]), [0.5, 0.5, 0.5, 0.0]);
        } else {
            // NaN is not equal to itself; the texts are.
            assert_eq!(format!("{array:?}"), format!("{:?}", half[name]), "{name}");
        }
    }
    assert!(store.q_h_view(Some(-0.5)).is_err());
}

#[test]
fn threads_do_not_show_in_the_bytes() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (scratch.path().join("one"), scratch.path().join("two"));
    write_rollout_zarr_store(&records(4), config(&one)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| write_rollout_zarr_store(&records(4), config(&two)).unwrap());
    let (one, two) = (files(&one), files(&two));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(two[name] == *bytes, "{name} differs");
    }
}

#[test]
fn a_second_write_replaces_the_first_and_a_failed_one_does_not() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("rollouts.zarr");
    write_rollout_zarr_store(&records(2), config(&directory)).unwrap();
    let before = files(&directory);

    let mut writer = Writer::new(config(&directory)).unwrap();
    let mut bad = records(1).remove(0);
    bad.source.source_shard_id = None;
    writer.add(&bad).unwrap_err();
    drop(writer);
    Writer::new(config(&directory)).unwrap().finish().unwrap_err();
    assert!(files(&directory) == before, "the store is as it was");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1);

    let result = write_rollout_zarr_store(&records(1), config(&directory)).unwrap();
    assert_eq!(result.num_rollouts, 2);
    assert_eq!(Store::open(&directory).unwrap().attributes()["num_rollouts"], Value::Int(2));
}

#[test]
fn what_is_not_the_writer_s_is_not_replaced() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("thesis");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("chapter.tex"), "dear").unwrap();
    let refusal = |directory: &Path| Writer::new(config(directory)).map(drop).unwrap_err().to_string();
    assert!(refusal(&directory).contains("not a rollout store"), "{}", refusal(&directory));
    assert!(refusal(&directory.join("chapter.tex")).contains("not a directory"));

    let shard = scratch.path().join("shard-000000");
    write_rollout_zarr_store(&records(1), config(&shard)).unwrap();
    std::fs::write(shard.join("_SUCCESS.json"), "{}").unwrap();
    assert!(refusal(&shard).contains("promoted shard"));
}

#[test]
fn what_is_someone_s_own_does_not_go_with_a_store() {
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("rollouts.zarr");
    let refusal = |directory: &Path| match Writer::new(config(directory)) {
        Ok(_) => panic!("{} is the writer's", directory.display()),
        Err(error) => error.to_string(),
    };
    write_rollout_zarr_store(&records(1), config(&store)).unwrap();
    assert!(refusal(&store.join("steps/inner")).contains("inside another store"));
    std::fs::write(store.join("steps/notes.txt"), "mine").unwrap();
    assert!(refusal(&store).contains("holds `steps/notes.txt`"), "{}", refusal(&store));
    std::fs::remove_file(store.join("steps/notes.txt")).unwrap();
    std::fs::write(store.join("_SUCCESS.json"), "{}").unwrap();
    assert!(refusal(&store.join("x")).contains("inside a promoted shard"));
    std::fs::remove_file(store.join("_SUCCESS.json")).unwrap();

    // A link stays one, and who may look at the store stays as it was.
    use std::os::unix::fs::PermissionsExt;
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(&store, &link).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o700)).unwrap();
    write_rollout_zarr_store(&records(2), config(&link)).unwrap();
    assert!(link.is_symlink());
    assert_eq!(Store::open(&store).unwrap().attributes()["num_rollouts"], Value::Int(4));
    assert_eq!(store.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_a_killed_writer_left_goes_with_the_next() {
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("rollouts.zarr");
    let abandoned = scratch.path().join(".rollouts.zarr.tmp-1-0-abc");
    let other = scratch.path().join(".other.zarr.tmp-1-0-abc");
    for directory in [&abandoned, &other] {
        std::fs::create_dir_all(directory.join(".waiting")).unwrap();
    }
    let empty = scratch.path().join(".rollouts.zarr.tmp-3-0-abc");
    std::fs::create_dir(&empty).unwrap();
    let held = scratch.path().join(".rollouts.zarr.tmp-2-0-abc");
    std::fs::create_dir_all(held.join("steps")).unwrap();
    let lock = std::fs::File::open(&held).unwrap();
    lock.lock().unwrap();
    write_rollout_zarr_store(&records(1), config(&store)).unwrap();
    assert!(!abandoned.exists() && !empty.exists() && other.exists() && held.exists());
}
