//! What the targets share: a directory of the process for the files that readers want, in memory
//! if `TMPDIR` is (`fuzz/run` sees to that, and removes it).

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use skyfall::rollouts::{RecordsFile, RolloutRecord, RolloutZarrStoreConfig};

/// The process's scratch directory.
pub fn scratch() -> &'static Path {
    static SCRATCH: OnceLock<tempfile::TempDir> = OnceLock::new();
    SCRATCH.get_or_init(|| tempfile::tempdir().expect("a scratch directory")).path()
}

/// Writes the scratch file `name`; its path.
pub fn place(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch().join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(&path, bytes).expect("a scratch file");
    path
}

/// The records in a scratch file, or what is wrong with it.
pub fn records(bytes: &[u8]) -> Result<Vec<RolloutRecord>, String> {
    let mut file = RecordsFile::open(&place("records.jsonl", bytes)).map_err(|error| error.to_string())?;
    let mut records = Vec::new();
    loop {
        let more = file.next_records().map_err(|error| error.to_string())?;
        if more.is_empty() {
            return Ok(records);
        }
        records.extend(more.into_iter().map(|(_, record)| record));
    }
}

/// How records are stored at `path`.
pub fn config(path: &Path) -> RolloutZarrStoreConfig {
    RolloutZarrStoreConfig {
        source_offline_store_version: "7".to_owned(),
        split_manifest_hash: "fixture-split-manifest".to_owned(),
        selected_depth_enabled: false,
        ..RolloutZarrStoreConfig::new(path, "2026-11-30T00:00:00Z")
    }
}

/// The files below `directory`, by name.
pub fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    fn walk(root: &Path, directory: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path.strip_prefix(root).expect("below the root").display().to_string();
                files.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    let mut found = Vec::new();
    walk(directory, directory, &mut found);
    found.sort();
    found
}

/// A campaign of one shard, run: the directory with its shard manifest and its final root `shards`.
pub fn campaign() -> &'static Path {
    static CAMPAIGN: OnceLock<PathBuf> = OnceLock::new();
    CAMPAIGN.get_or_init(|| {
        let script = place("oracle.lua", include_bytes!("../../tests/data/campaign/oracle.lua"));
        let index = place("index.jsonl", include_bytes!("../seeds/read_markers/index.jsonl"));
        let campaign = scratch().join("campaign");
        let (manifest, shards) = (campaign.join("shard-manifest.jsonl"), campaign.join("shards"));
        let skyfall = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
            let words = words.iter().map(|word| word.as_ref().to_owned());
            skyfall::cli::main(["skyfall".into(), "--quiet".into(), "rollouts".into()].into_iter().chain(words));
        };
        skyfall(&[&"plan", &index, &"--script", &script, &"--rows-per-shard", &"1", &"--out", &campaign]);
        skyfall(&[&"run", &"--shard-manifest", &manifest, &"--script", &script, &"--shard-id", &"0"]);
        assert!(shards.join("shard-000000/_SUCCESS.json").is_file(), "the shard could not be made");
        campaign
    })
}
