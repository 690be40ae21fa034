#!/usr/bin/env bash
# The long proofs of RELIABILITY.md: about twenty minutes. With TESSERA_DATA the hostile files too.
#
#   benches/reliability.sh
#
# Some of it can only be tried by the system's administrator (a small disk, another user), and is skipped otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --locked -p tessera-core --test core -- --ignored --nocapture
cargo test --locked -p tessera --no-default-features --test app -- --ignored --nocapture
if [ -n "${TESSERA_DATA:-}" ]; then
    cargo build --release --locked -p tessera --no-default-features
    python3 benches/hostile.py target/release/tessera
else
    echo "skipped: the hostile files (TESSERA_DATA is not set)"
fi
