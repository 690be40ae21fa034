//! The tests of `tessera`, in one program: the command line as a user meets it.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed, and says where")]

mod backup;
mod class_tree;
mod classify;
mod cluster;
mod collections;
mod damage;
mod desk;
mod desk_clusters;
mod desk_waiting;
mod dice;
mod disk;
mod documents;
mod duplicates;
mod evaluate;
mod evaluate_memories;
mod evaluate_mixtures;
mod evaluate_neighbours;
mod evaluate_online;
mod generate;
mod history;
mod hostile;
mod hours;
mod import;
mod import_plan;
mod injected;
mod kinds;
mod label;
mod learned;
mod library;
#[path = "../core/made.rs"]
mod made;
mod mangled;
mod map;
mod networks;
mod power;
mod read_only;
#[path = "../../fuzz/src/readers.rs"]
mod readers;
mod received;
mod replay;
mod review;
mod search;
mod settings;
mod similar;
mod survive;
mod train;
mod tune;
mod untrusted;
mod vectors;
mod world;
