//! Programs that stand for Slurm's.
