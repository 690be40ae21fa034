//! Vectors in files of other programs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tessera_core::Error;
use tessera_core::data::vectors::VectorFile;

fn read(name: &str, bytes: &[u8]) -> tessera_core::Result<VectorFile> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    VectorFile::read(&path)
}

fn numpy(kind: &str, shape: &str, order: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

#[test]
fn each_kind_of_file_is_read() {
    let expected = VectorFile { dimension: 2, values: vec![1.0, 2.0, 3.0, 255.0] };
    let floats: Vec<u8> = expected.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let doubles: Vec<u8> = expected.values.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect();
    assert_eq!(read("a.npy", &numpy("<f4", "(2, 2)", "False", &floats)).unwrap(), expected);
    assert_eq!(read("a.npy", &numpy("<f8", "(2, 1, 2)", "False", &doubles)).unwrap(), expected);
    assert_eq!(read("a", &numpy("|u1", "(2, 2)", "False", &[1, 2, 3, 255])).unwrap(), expected);
    let idx = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 255];
    assert_eq!(read("a", &idx).unwrap(), expected);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&idx).unwrap();
    assert_eq!(read("a.gz", &packed.finish().unwrap()).unwrap(), expected);
    let row = |values: &[u8]| [&[2, 0, 0, 0], values].concat();
    assert_eq!(read("a.fvecs", &[row(&floats[..8]), row(&floats[8..])].concat()).unwrap(), expected);
}

#[test]
fn what_is_not_one_is_refused() {
    let refused = |name: &str, bytes: &[u8]| match read(name, bytes) {
        Err(Error::Data { .. }) => {}
        other => panic!("{other:?}"),
    };
    refused("a.npy", b"");
    refused("a.npy", b"words");
    refused("a.npy", &numpy("<f4", "(2, 2)", "True", &[0; 16]));
    refused("a.npy", &numpy("<f4", "(2, 2)", "False", &[0; 15]));
    refused("a.npy", &numpy("<f4", "(4,)", "False", &[0; 16]));
    refused("a.npy", &numpy("<c8", "(1, 1)", "False", &[0; 8]));
    // A number of values that no file has takes no memory.
    refused("a.npy", &numpy("<f4", "(4000000000, 1)", "False", &[0; 16]));
    refused("a.npy", &numpy("<f4", "(18446744073709551615, 18446744073709551615)", "False", &[0; 16]));
    refused("a", &[0, 0, 9, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
    refused("a", &[0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255, 0]);
    refused("a.gz", &[0x1f, 0x8b, 8, 0, 0, 0]);
    refused("a.fvecs", &[2, 0, 0, 0, 1, 2, 3, 4]);
    refused("a.fvecs", &[255, 255, 255, 255]);
}
