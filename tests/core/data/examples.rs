//! Files of examples: libsvm's format, Mulan's ARFF, the Extreme Classification Repository's text.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use tessera_core::data::libsvm::{self, ClassNames};
use tessera_core::data::multilabel::{self, MultiLabel};
use tessera_core::ids::ClassId;
use tessera_core::progress::Progress;
use tessera_core::sparse::SparseVec;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn libsvm(&self, text: &str) -> tessera_core::Result<Vec<(ClassId, SparseVec)>> {
        libsvm::read(&self.file("some.svm", text), &mut ClassNames::default(), &Progress::default())
    }

    fn labels(&self, name: &str, text: &str) -> tessera_core::Result<MultiLabel> {
        multilabel::read(&self.file(name, text), &Progress::default())
    }
}

fn x(entries: &[(u32, f32)]) -> SparseVec {
    SparseVec::from_pairs(entries.iter().copied()).unwrap()
}

#[test]
fn libsvm_lines_are_a_class_and_features() {
    let files = Files::new();
    let examples = files.libsvm("cat 1:1 7:2.5 # a remark\n\n-1 3:-1e-2\ncat\n").unwrap();
    assert_eq!(examples, [(ClassId(0), x(&[(1, 1.0), (7, 2.5)])), (ClassId(1), x(&[(3, -0.01)])), (ClassId(0), x(&[]))]);
    let mut classes = ClassNames::default();
    for name in ["a.svm", "b.svm"] {
        libsvm::read(&files.file(name, "dog 1:1\ncat 2:1\n"), &mut classes, &Progress::default()).unwrap();
    }
    assert_eq!(classes.names(), ["dog", "cat"], "two files share their classes");
}

#[test]
fn malformed_libsvm_lines_are_told_by_number() {
    let files = Files::new();
    let wrongs = [
        ("1 1:1\n1 2", "`2` in line 2"),
        ("1 a:1", "`a:1` in line 1"),
        ("1 1:x", "`1:x` in line 1"),
        ("1 1:inf", "`1:inf` in line 1"),
        ("1 -1:1", "`-1:1` in line 1"),
        ("1 99999999999:1", "`99999999999:1` in line 1"),
        ("1:1 2:1", "`1:1` where a class should be in line 1"),
        ("# nothing\n\n", "found none"),
    ];
    for (text, complaint) in wrongs {
        let error = files.libsvm(text).unwrap_err().to_string();
        assert!(error.contains(complaint) && error.contains("write a class and then index:value pairs"), "{text:?}: {error}");
    }
}

const HEAD: &str = "@relation 'toy'\n% a remark\n@attribute word1 numeric\n@attribute 'a word' {0,1}\n@ATTRIBUTE colour {red,'green'}\n\
                    @attribute one {0,1}\n@attribute \"two\" {0,1}\n@data\n";

fn toy() -> MultiLabel {
    let examples = vec![
        (x(&[(0, 2.5), (1, 1.0), (2, 1.0)]), vec![ClassId(0)]),
        (x(&[(2, 0.0)]), vec![ClassId(0), ClassId(1)]),
        (x(&[(0, -1.0)]), vec![]),
    ];
    MultiLabel { n_labels: 2, examples }
}

#[test]
fn arff_is_read_dense_and_sparse() {
    let files = Files::new();
    let dense = format!("{HEAD}2.5,1,green,1,0\n\n% a remark\n?,0,red,1,1\n-1, 0, 'red', 0, 0\n");
    let sparse = format!("{HEAD}{{0 2.5,1 1,2 green,3 1}}\n{{3 1, 4 1}}\n{{0 -1}}\n");
    assert_eq!(files.labels("dense.arff", &dense).unwrap(), toy());
    assert_eq!(files.labels("sparse.ARFF", &sparse).unwrap(), toy());
}

#[test]
fn labels_are_those_that_the_xml_names() {
    let files = Files::new();
    files.file("toy.xml", "<labels xmlns=\"x\">\n<label name=\"a word\"></label>\n<label name='two'/></labels>");
    let read = files.labels("toy-train.arff", &format!("{HEAD}{{1 1,3 1}}\n{{4 1}}\n")).unwrap();
    assert_eq!(read.n_labels, 2);
    assert_eq!(read.examples, [(x(&[(2, 1.0)]), vec![ClassId(0)]), (x(&[]), vec![ClassId(1)])]);
    files.file("toy.xml", "<labels></labels>");
    let error = files.labels("toy-train.arff", &format!("{HEAD}{{1 1}}\n")).unwrap_err().to_string();
    assert!(error.contains("toy.xml: expected names of labels, found none"), "{error}");
}

#[test]
fn malformed_arff_lines_are_told_by_number() {
    let files = Files::new();
    let wrongs = [
        (format!("{HEAD}1,1,red,1"), "`1,1,red,1` in line 9"),
        (format!("{HEAD}1,1,blue,1,0"), "`1,1,blue,1,0` in line 9"),
        (format!("{HEAD}{{0 1,9 1}}"), "`{0 1,9 1}` in line 9"),
        (format!("{HEAD}{{0 1,x 1}}"), "in line 9"),
        (format!("{HEAD}{{0}}"), "`{0}` in line 9"),
        (format!("{HEAD}{{0 nan}}"), "in line 9"),
        (format!("@attribute 'x numeric\n{HEAD}"), "an attribute's name and kind, found @attribute 'x numeric in line 1"),
        (HEAD.to_owned(), "0 examples and 2 labels"),
        ("@attribute x numeric\n@data\n1\n".to_owned(), "1 examples and 0 labels"),
    ];
    for (text, complaint) in wrongs {
        let error = files.labels("toy.arff", &text).unwrap_err().to_string();
        assert!(error.contains(complaint) && error.contains("check the file"), "{text:?}: {error}");
    }
}

#[test]
fn xc_text_is_read() {
    let files = Files::new();
    let read = files.labels("toy.txt", "3 4 2\n0 0:2.5 1:1 2:1\n1,0 2:0\n 0:-1\n").unwrap();
    assert_eq!(read, toy());
}

#[test]
fn malformed_xc_lines_are_told_by_number() {
    let files = Files::new();
    let wrongs = [
        ("3 4\n", "the numbers of examples, features and labels"),
        ("", "the numbers of examples, features and labels"),
        ("1 4 2\n2 1:1\n", "labels by number, found `2` in line 2"),
        ("1 4 2\nx 1:1\n", "labels by number, found `x` in line 2"),
        ("1 4 2\n0 4:1\n", "features as index:value, found `4:1` in line 2"),
        ("1 4 2\n0 1\n", "features as index:value, found `1` in line 2"),
        ("2 4 2\n0 1:1\n", "expected 2 examples, found 1"),
        ("1 2 2000000000\n1999999999 0:1\n", "at most 1000030 labels in a file of 30 bytes, found 2000000000"),
    ];
    for (text, complaint) in wrongs {
        let error = files.labels("toy.txt", text).unwrap_err().to_string();
        assert!(error.contains(complaint), "{text:?}: {error}");
    }
    let gone = multilabel::read(&files.0.path().join("gone.txt"), &Progress::default()).unwrap_err().to_string();
    assert!(gone.contains("cannot read") && gone.contains("check the name"), "{gone}");
}

#[test]
fn reading_can_be_stopped() {
    let files = Files::new();
    let progress = Progress::default();
    progress.cancel();
    let path = files.file("a.svm", "1 1:1\n");
    assert!(matches!(libsvm::read(&path, &mut ClassNames::default(), &progress), Err(tessera_core::Error::Cancelled)));
    let path = files.file("a.txt", "1 2 1\n0 1:1\n");
    assert!(matches!(multilabel::read(&path, &progress), Err(tessera_core::Error::Cancelled)));
}
