//! Looking at work under way.

use std::thread;

use tessera_core::progress::{Progress, Snapshot};

#[test]
fn a_look_never_mixes_two_stages() {
    let progress = Progress::default();
    thread::scope(|scope| {
        let work = scope.spawn(|| {
            for _ in 0..100_000 {
                for (stage, total) in [("few", 1), ("many", 2)] {
                    progress.begin(stage, total);
                    (0..total).for_each(|_| progress.step().unwrap());
                }
            }
        });
        while !work.is_finished() {
            let Snapshot { stage, done, total } = progress.snapshot();
            let expected = match stage {
                "few" => 1,
                "many" => 2,
                _ => 0,
            };
            assert!(total == expected && done <= total, "{done} of {total} of `{stage}`");
        }
    });
    assert_eq!(progress.snapshot(), Snapshot { stage: "many", done: 2, total: 2 });
}
