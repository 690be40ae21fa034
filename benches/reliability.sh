#!/usr/bin/env bash
# The long proofs of RELIABILITY.md: about two and a half hours, and some hours more for HOURS. With TESSERA_DATA the hostile files too; with cargo-fuzz all fuzz targets,
# ten minutes each, three hours.
#
#   [HOURS=1] benches/reliability.sh
#
# With HOURS also 100,000 power failures and 100,000 changed folders, in ranges of seeds; each prints its figures, to be summed.
# Some of it can only be tried by the system's administrator (a small disk, another user), and is skipped otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --locked -p tessera-core-tests -- --ignored --nocapture
cargo test --locked -p tessera --no-default-features --test app -- --ignored --nocapture
if [ -n "${HOURS:-}" ]; then
    ranges() {
        local test=$1 step=$2 from
        for ((from = 0; from < 100000; from += step)); do
            TESSERA_TRIALS=$from..$((from + step)) \
                cargo test --locked -p tessera --no-default-features --test app -- --ignored --nocapture "$test"
        done
    }
    ranges long_power_failures 10000
    ranges random_folders 5000
fi
TESSERA_MUTATIONS=20000 cargo test --locked -p tessera --no-default-features --test app -- replay::
cargo bench --locked -p tessera --no-default-features
if [ -n "${TESSERA_DATA:-}" ]; then
    cargo build --release --locked -p tessera --no-default-features
    python3 benches/hostile.py target/release/tessera
else
    echo "skipped: the hostile files (TESSERA_DATA is not set)"
fi
if cargo fuzz --version >/dev/null 2>&1; then
    # The sanitizer needs what this toolchain keeps for its own use.
    for target in $(cargo fuzz list); do
        mkdir -p "fuzz/corpus/$target"
        RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- -max_total_time=600 -rss_limit_mb=2048 -timeout=20
    done
else
    echo "skipped: fuzzing (\`cargo install cargo-fuzz\`)"
fi
