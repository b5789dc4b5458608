//! Writing rollout stores: candidates a second without depth, rasters a second with it.
//! `benches/peers/store_peers.py` has the peers.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

#[path = "support/rooms.rs"]
mod rooms;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skyfall::rollouts::{RolloutZarrStoreConfig, write_rollout_zarr_store};

fn write(criterion: &mut Criterion) {
    let scratch = tempfile::tempdir().unwrap();
    let mut group = criterion.benchmark_group("rollouts write");
    group.sample_size(10);
    for (name, count, raster) in [("lean", 64, None), ("depth 240x240", 8, Some((240, 240)))] {
        let records = rooms::records(count, raster);
        group.throughput(Throughput::Elements((count * rooms::PER_RECORD) as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let config = RolloutZarrStoreConfig {
                    split_manifest_hash: "bench".to_owned(),
                    selected_depth_enabled: raster.is_some(),
                    ..RolloutZarrStoreConfig::new(scratch.path().join("store"), "2026-11-30T00:00:00Z")
                };
                write_rollout_zarr_store(&records, config).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, write);
criterion_main!(benches);
