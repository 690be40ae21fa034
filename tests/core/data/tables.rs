//! Tables of captions and labels: every format reads back what it wrote, reports what is broken,
//! and paths find their image.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use tessera_core::Result;
use tessera_core::data::tables::{self, MAX_PROBLEMS, MAX_SIDECAR, Matcher, PathMatch, Table, TableFormat, TableRow, sidecar};
use tessera_core::progress::Progress;

use super::{big_data, folder, touch};

fn row(path: &str, label: Option<&str>, captions: &[&str]) -> TableRow {
    TableRow { path: path.into(), label: label.map(String::from), captions: captions.iter().map(|text| text.to_string()).collect() }
}

fn read(path: &Path) -> Result<Table> {
    tables::read(path, &Progress::default())
}

/// Reads a file of this name and content.
fn read_bytes(name: &str, bytes: &[u8]) -> Result<Table> {
    let dir = folder(&[]);
    fs::write(dir.path().join(name), bytes).unwrap();
    read(&dir.path().join(name))
}

#[track_caller]
fn table(name: &str, text: &str) -> Table {
    read_bytes(name, text.as_bytes()).expect("a table")
}

#[track_caller]
fn refusal(name: &str, bytes: &[u8]) -> String {
    let error = read_bytes(name, bytes).expect_err("a refusal");
    assert_eq!(error.reason(), "data");
    error.to_string()
}

fn problem_lines(table: &Table) -> Vec<usize> {
    table.problems.iter().map(|problem| problem.line).collect()
}

/// What a format can hold of these rows.
fn held(format: TableFormat, rows: &[TableRow]) -> Vec<TableRow> {
    match format {
        TableFormat::Flickr8k | TableFormat::Sidecar => {
            let flat = |text: &String| text.replace("\r\n", " ").replace(['\r', '\n'], " ");
            let flat = |row: &TableRow| TableRow { label: None, captions: row.captions.iter().map(flat).collect(), ..row.clone() };
            rows.iter().filter(|row| !row.captions.is_empty()).map(flat).collect()
        }
        _ => rows.to_vec(),
    }
}

/// Writes rows in a new folder and reads them again. For sidecars their images lie there too.
fn there_and_back(format: TableFormat, rows: &[TableRow]) -> (usize, Table) {
    let dir = folder(&[]);
    let to = match format {
        TableFormat::Sidecar => dir.path().to_owned(),
        _ => dir.path().join("table"),
    };
    if format == TableFormat::Sidecar {
        rows.iter().for_each(|row| touch(&to.join(&row.path)));
    }
    let n_rows = tables::write(format, rows, &to).expect("written rows");
    (n_rows, read(&to).expect("a table"))
}

fn samples() -> Vec<TableRow> {
    vec![
        row("a/b.jpg", Some("dog"), &["A dog, running.", "\"Good\" dog", "say \"x\"", "two\nlines", "a\ttab; here"]),
        row("a/c d.png", Some("cat, small"), &["Ein Kätzchen 🐈", "#1 cat", "=1+1", "{\"x\": [1]}", "a\r\nb\rc"]),
        row("e#1.jpg", None, &["no label"]),
        row("ünï.jpeg", Some("no caption"), &[]),
    ]
}

#[test]
fn every_format_gives_back_what_was_written() {
    for format in TableFormat::ALL {
        let expected = held(format, &samples());
        let (n_rows, table) = there_and_back(format, &samples());
        assert_eq!((n_rows, table.format), (expected.len(), format));
        assert_eq!((table.rows, table.problems), (expected, vec![]), "{format}");
        assert_eq!(format.name().parse::<TableFormat>().unwrap(), format);
    }
    assert_eq!("xls".parse::<TableFormat>().unwrap_err().reason(), "option");
}

/// Text without blanks around it, made of what is special somewhere.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        "[a-c]{1,3}",
        "[,;\"'#=|\\\\{}\\[\\]:]{1,2}",
        prop::sample::select(vec![
            "\n", "\r\n", "\r", "\t", " ", "\"\"", "\",\"", "#0\t", "é", "日本", "🐈", "\u{FEFF}", "\u{2028}", "\u{1}", "path"
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(pieces, 1..8).prop_map(|pieces| pieces.concat().trim().to_string()).prop_filter("empty", |text| !text.is_empty())
}

/// Rows of different images.
fn some_rows() -> impl Strategy<Value = Vec<TableRow>> {
    let path = ("[a-c ,;\"#é{]{0,3}", "[a-c][a-c ,;\"'#é.=]{0,4}")
        .prop_map(|(folder, name)| format!("{folder}/{name}").trim_matches('/').to_owned());
    let one = (path, prop::option::of(text()), prop::collection::vec(text(), 0..4));
    prop::collection::vec(one, 1..6).prop_map(|rows| {
        // The numbers keep the images apart.
        let numbered =
            rows.into_iter().enumerate().map(|(i, (path, label, captions))| TableRow { path: format!("{path}{i}.jpg"), label, captions });
        numbered.collect::<Vec<_>>()
    })
}

fn survives(format: TableFormat, rows: Vec<TableRow>) -> std::result::Result<(), TestCaseError> {
    let mut expected = held(format, &rows);
    if expected.is_empty() {
        return Ok(());
    }
    let (n_rows, mut table) = there_and_back(format, &rows);
    if format == TableFormat::Sidecar {
        expected.sort_by(|a, b| a.path.cmp(&b.path));
        table.rows.sort_by(|a, b| a.path.cmp(&b.path));
    }
    prop_assert_eq!(n_rows, expected.len());
    prop_assert_eq!(&table.problems, &vec![]);
    prop_assert_eq!((table.format, table.rows), (format, expected));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn flickr8k_survives(rows in some_rows()) {
        survives(TableFormat::Flickr8k, rows)?;
    }

    #[test]
    fn coco_survives(rows in some_rows()) {
        survives(TableFormat::Coco, rows)?;
    }

    #[test]
    fn csv_survives(rows in some_rows()) {
        survives(TableFormat::Csv, rows)?;
    }

    #[test]
    fn tsv_survives(rows in some_rows()) {
        survives(TableFormat::Tsv, rows)?;
    }

    #[test]
    fn json_lines_survive(rows in some_rows()) {
        survives(TableFormat::JsonLines, rows)?;
    }

    #[test]
    fn sidecars_survive(rows in some_rows()) {
        survives(TableFormat::Sidecar, rows)?;
    }

    #[test]
    fn damaged_files_never_panic(rows in some_rows(), which in 0..5usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let dir = folder(&[]);
        let path = dir.path().join("table");
        tables::write(TableFormat::ALL[which], &rows, &path).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
        }
        match read_bytes("table", &bytes) {
            Ok(table) => prop_assert!(!table.rows.is_empty()),
            Err(error) => prop_assert_eq!(error.reason(), "data"),
        }
    }
}

#[test]
fn damaged_lines_are_told_and_the_others_read() {
    let good = [row("a.jpg", None, &["one"]), row("b.jpg", None, &["two"])];
    let cases: [(&str, &str, &[usize]); 7] = [
        ("t.txt", "a.jpg#0\tone\nno tab\n\nb.jpg#x\tthree\nb.jpg#0\ttwo\nb.jpg#1\t \n", &[2, 4, 6]),
        ("t.csv", "path,caption\na.jpg,one\nc.jpg,three, four\nc.jpg\n,five\n\nb.jpg,two\n", &[3, 4, 5]),
        ("t.csv", "path,caption\r\na.jpg,one\r\nc.jpg,\"torn\r\nb.jpg,two\r\n", &[3]),
        ("t.csv", "path,caption\nc.jpg,\"torn\na.jpg,one\nd.jpg,\"again\nb.jpg,two\n", &[2, 4]),
        ("t.tsv", "path\tcaption\na.jpg\tone\nc.jpg\nb.jpg\ttwo\n", &[3]),
        (
            "t.jsonl",
            "{\"path\":\"a.jpg\",\"caption\":\"one\"}\n{\"path\"\n\n{\"caption\":\"x\"}\n{\"path\":\"c\",\"caption\":{}}\n3\n{\"path\":\"b.jpg\",\"captions\":[\"two\"]}",
            &[2, 4, 5, 6],
        ),
        (
            "t.json",
            "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"},\n{\"id\":2},{\"id\":\"x\",\"file_name\":\"b.jpg\"}],\n\"annotations\":[\n{\"image_id\":1,\"caption\":\"one\"},\n\
             {\"image_id\":9,\"caption\":\"y\"},\n{\"image_id\":[],\"caption\":\"y\"},\n{\"image_id\":1},{\"image_id\":1,\"category_id\":4},\n{\"image_id\":\"x\",\"caption\":\"two\"}]}",
            &[2, 5, 6, 7, 7],
        ),
    ];
    for (name, text, lines) in cases {
        let table = table(name, text);
        assert_eq!(table.rows, good, "{text}");
        assert_eq!((problem_lines(&table).as_slice(), table.n_problems), (lines, lines.len()), "{text}\n{:#?}", table.problems);
    }
}

#[test]
fn lines_that_are_not_utf_8_are_told_and_the_others_read() {
    let good = [row("a.jpg", None, &["one"]), row("b.jpg", None, &["two \u{FFFD}"])];
    let cases: [(&str, &[u8], &[usize]); 6] = [
        ("t.txt", b"a.jpg#0\tone\nc.jpg#0\tcaf\xE9\nb.jpg#0\ttwo \xEF\xBF\xBD\n", &[2]),
        ("t.csv", b"path,caption\na.jpg,one\nc.jpg,caf\xE9 \xE8\nb.jpg,two \xEF\xBF\xBD\n", &[3]),
        ("t.csv", b"path,caption,a\xE9\na.jpg,one,\n\"c.jpg\",\"\xE9\n\",\nb.jpg,two \xEF\xBF\xBD,\n", &[1, 3]),
        ("t.csv", b"path,caption\na.jpg,one\nc.jpg,\"\xE9\nb.jpg,two \xEF\xBF\xBD\n", &[3]),
        (
            "t.jsonl",
            b"{\"path\":\"a.jpg\",\"caption\":\"one\"}\n{\"path\":\"c\xE9\",\"caption\":\"x\"}\n{\"path\":\"b.jpg\",\"caption\":\"two \xEF\xBF\xBD\"}",
            &[2],
        ),
        (
            "t.json",
            b"{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"},{\"id\":2,\"file_name\":\"b.jpg\"}],\"annotations\":[\n{\"image_id\":1,\"caption\":\"one\"},\n\
              {\"image_id\":1,\"caption\":\"caf\xE9\"},\n{\"image_id\":2,\"caption\":\"two \xEF\xBF\xBD\"}]}",
            &[3],
        ),
    ];
    for (name, bytes, lines) in cases {
        let table = read_bytes(name, bytes).unwrap();
        assert_eq!((table.rows.as_slice(), problem_lines(&table).as_slice()), (&good[..], lines), "{name}: {:#?}", table.problems);
        assert!(table.problems[0].detail.starts_with("expected text in UTF-8, found the byte E9 in `"), "{:?}", table.problems);
    }
}

#[test]
fn problems_are_counted_beyond_those_kept() {
    let table = table("t.txt", &format!("a.jpg#0\tone\n{}", "bad\n".repeat(MAX_PROBLEMS + 5)));
    assert_eq!((table.problems.len(), table.n_problems), (MAX_PROBLEMS, MAX_PROBLEMS + 5));
}

#[test]
fn marks_and_line_ends_of_other_systems_do_no_harm() {
    let rows = [row("a.jpg", None, &["one", "two"]), row("b.jpg", None, &["three"])];
    for format in TableFormat::ALL {
        for with_mark in [false, true] {
            let dir = folder(&["a.jpg", "b.jpg"]);
            let to = if format == TableFormat::Sidecar { dir.path().to_owned() } else { dir.path().join("table") };
            tables::write(format, &rows, &to).unwrap();
            let files = if format == TableFormat::Sidecar { vec![to.join("a.txt"), to.join("b.txt")] } else { vec![to.clone()] };
            for file in files {
                let text = fs::read_to_string(&file).unwrap().replace('\n', "\r\n");
                fs::write(&file, if with_mark { format!("\u{FEFF}{text}") } else { text }).unwrap();
            }
            let table = read(&to).unwrap();
            assert_eq!((table.format, table.rows.as_slice(), table.problems), (format, rows.as_slice(), vec![]));
        }
    }
}

#[test]
fn what_is_no_table_is_refused_with_the_way_out() {
    for name in ["t.txt", "t.csv", "t.tsv", "t.json", "t.jsonl"] {
        for bytes in [b"".as_slice(), b" \r\n\n", b"\xEF\xBB\xBF"] {
            assert!(refusal(name, bytes).contains("an empty file"));
        }
        let utf16: Vec<u8> = "path,caption\na.jpg,one\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [&utf16, &[&[0xFF, 0xFE], utf16.as_slice()].concat()] {
            assert!(refusal(name, bytes).contains("UTF-16, or no text; open it in a text editor and save it as UTF-8"));
        }
        assert!(refusal(name, b"path,caption\nb.jpg,caf\xE9\n").contains("on line 2; open it"));
        assert!(refusal(name, b"just\nsome words\n").contains("found a first line of `just`; name another file"));
        assert!(refusal(name, b"{\"images\": [").contains("found"));
    }
    assert!(refusal("t.json", b"{\"images\": [\n{\"id\": 1").contains("at line 2"));
    assert!(refusal("t.json", b"{\"a\": 1}").contains("without `images`"));
    assert!(refusal("t.json", "[".repeat(100_000).as_bytes()).contains("..."));
    assert!(refusal("t.json", format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes()).contains("found JSON"));
    assert!(refusal("t.jsonl", b"{\"path\"\n{\"path\"\n").contains("none (line 1: EOF"));
    assert!(refusal("t.csv", b"path,caption\n").contains("found none;"));
    assert!(refusal("t.csv", b"path,caption\na\n").contains("none (line 2: expected 2 fields, found 1)"));
    let dir = folder(&["a.jpg"]);
    assert_eq!(read(dir.path()).unwrap_err().reason(), "data", "a folder without sidecars");
    assert_eq!(read(&dir.path().join("missing.csv")).unwrap_err().reason(), "io");
    let big = dir.path().join("big.csv");
    fs::File::create(&big).unwrap().set_len(tables::MAX_BYTES + 1).unwrap();
    assert!(read(&big).unwrap_err().to_string().contains("cut it into several files"));
}

#[test]
fn work_can_be_cancelled() {
    let dir = folder(&["a.jpg"]);
    for format in TableFormat::ALL {
        let to = if format == TableFormat::Sidecar { dir.path().to_owned() } else { dir.path().join("table") };
        tables::write(format, &[row("a.jpg", None, &["one"])], &to).unwrap();
        let progress = Progress::default();
        progress.cancel();
        assert_eq!(tables::read(&to, &progress).unwrap_err().reason(), "cancelled", "{format}");
    }
}

#[test]
fn headers_have_synonyms_in_any_case_and_order() {
    let expected = [row("a.jpg", Some("dog"), &["one"])];
    for text in [
        "Path,Label,Caption\na.jpg,dog,one\n",
        "text,CLASS,File Name\none,dog,a.jpg\n",
        "\"Image_Name\",id,comment,category\na.jpg,7,one,dog\n",
        "image,file_name,class,description\n3,a.jpg,dog,one\n",
        "image;category;caption\na.jpg;dog;one\n",
        "filename\tclass\ttext\na.jpg\tdog\tone\n",
        "a.jpg\tone\n",
        "{\"file_name\":\"a.jpg\",\"class\":\"dog\",\"Text\":\"one\",\"size\":[1,{}]}\n",
        "{\"image\":\"x\",\"path\":\"a.jpg\",\"label\":\"dog\",\"caption\":[\"one\",\" \"],\"text\":\"two\"}\n",
    ] {
        let table = table("t", text);
        let wanted = if text.starts_with("a.jpg") { [row("a.jpg", None, &["one"])] } else { expected.clone() };
        assert_eq!((table.rows.as_slice(), table.problems), (wanted.as_slice(), vec![]), "{text}");
    }
}

#[test]
fn rows_of_one_image_are_joined() {
    let flickr = table("t", "b.jpg#1\ttwo\na.jpg#0\tx\nb.jpg#10\tthree\nb.jpg#0\tone\n");
    assert_eq!(flickr.rows, [row("b.jpg", None, &["one", "two", "three"]), row("a.jpg", None, &["x"])]);
    let csv = table("t", "path,label,caption\nb,dog,2\na,,\nb,,1\nb,cat,\nb,bird,3\n");
    assert_eq!(csv.rows, [row("b", Some("dog"), &["2", "1", "3"]), row("a", None, &[])]);
    assert_eq!((problem_lines(&csv), csv.problems[0].detail.as_str()), (vec![5], "`b` is `dog` already, not `cat` too"));
    let coco = r#"{"info": {}, "annotations": [{"id": 5, "image_id": 2, "category_id": 18, "bbox": [0, 1]}],
        "images": [{"id": 2, "file_name": "x.jpg", "width": 4}], "categories": [{"id": 18, "name": "dog", "supercategory": "animal"}]}"#;
    assert_eq!(table("instances.json", coco).rows, [row("x.jpg", Some("dog"), &[])]);
    assert_eq!(table("t.tsv", "path\tcaption\na\t\"so\" she said\n").rows, [row("a", None, &["\"so\" she said"])]);
}

#[test]
fn formats_refuse_what_they_cannot_hold() {
    let dir = folder(&[]);
    let to = dir.path().join("out");
    for format in TableFormat::ALL {
        assert!(tables::write(format, &[row(" ", None, &["x"])], &to).unwrap_err().to_string().contains("none in row 1"));
    }
    for path in ["a\tb.jpg", "a\nb.jpg", "a\rb.jpg"] {
        assert_eq!(tables::write(TableFormat::Flickr8k, &[row(path, None, &["x"])], &to).unwrap_err().reason(), "data");
    }
    for path in
        ["../a.jpg", "a/../../b.jpg", "a\\..\\..\\b.jpg", "/etc/a.jpg", "\\\\host\\a.jpg", "C:\\a.jpg", ".git/a.jpg", "..", "a/", "./"]
    {
        let error = tables::write(TableFormat::Sidecar, &[row("good.jpg", None, &["x"]), row(path, None, &["x"])], &to).unwrap_err();
        assert_eq!(error.reason(), "data", "{path}");
    }
    let long = "x".repeat(MAX_SIDECAR as usize);
    assert!(tables::write(TableFormat::Sidecar, &[row("a.jpg", None, &[&long])], &to).unwrap_err().to_string().contains("another format"));
    assert!(!to.exists(), "nothing is written when something is refused");
}

#[test]
fn sidecars_lie_beside_their_images() {
    let dir = folder(&["in/a.b.JPG", "in/a.png", "README.txt"]);
    let at = |name: &str| dir.path().join(name);
    fs::write(at("in/a.b.txt"), "one\n\n two \r\n").unwrap();
    assert_eq!(sidecar(&at("in/a.b.JPG")).unwrap(), Some(vec!["one".into(), "two".into()]));
    assert_eq!(sidecar(&at("in/a.png")).unwrap(), None);
    assert_eq!(sidecar(&at("in/a.b.txt")).unwrap(), None, "a text file is no image");
    let table = read(dir.path()).unwrap();
    assert_eq!(table.rows, [row("in/a.b.JPG", None, &["one", "two"])]);
    assert_eq!(table.problems[0].detail, "`README.txt` has no image beside it");
    assert_eq!(read(&at("in/a.b.txt")).unwrap().rows, [row("a.b.JPG", None, &["one", "two"])]);

    fs::write(at("in/a.txt"), b"caf\xE9").unwrap();
    assert!(sidecar(&at("in/a.png")).unwrap_err().to_string().contains("save it as UTF-8"));
    fs::write(at("in/a.txt"), "x".repeat(MAX_SIDECAR as usize + 1)).unwrap();
    assert_eq!(sidecar(&at("in/a.png")).unwrap_err().reason(), "data");
    assert_eq!(read(dir.path()).unwrap().problems.len(), 2);
}

#[test]
fn sidecars_never_replace_other_text() {
    let dir = folder(&[]);
    let rows = [row("x\\a.jpg", Some("dog"), &["one"]), row("b.v2", None, &["two"]), row("c.png", Some("cat"), &[])];
    assert_eq!(tables::write(TableFormat::Sidecar, &rows, dir.path()).unwrap(), 2);
    assert_eq!(tables::write(TableFormat::Sidecar, &rows, dir.path()).unwrap(), 2, "the same again does no harm");
    assert_eq!(fs::read_to_string(dir.path().join("x/a.txt")).unwrap(), "one\n");
    assert_eq!(read(dir.path()).unwrap().rows, [row("b.v2", None, &["two"]), row("x/a", None, &["one"])], "a folder without images");

    let other = [row("new.jpg", None, &["x"]), row("x/a.png", None, &["other"])];
    assert!(tables::write(TableFormat::Sidecar, &other, dir.path()).unwrap_err().to_string().contains("move it away"));
    assert!(!dir.path().join("new.txt").exists(), "all is checked before anything is written");
    let clash = [row("n.jpg", None, &["x"]), row("n.png", None, &["y"])];
    assert_eq!(tables::write(TableFormat::Sidecar, &clash, dir.path()).unwrap_err().reason(), "data");
}

#[cfg(unix)]
#[test]
fn sidecars_do_not_follow_links_out_of_their_folder() {
    let (dir, outside) = (folder(&[]), folder(&[]));
    std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).unwrap();
    assert_eq!(tables::write(TableFormat::Sidecar, &[row("link/a.jpg", None, &["x"])], dir.path()).unwrap_err().reason(), "data");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// The obvious version of [`Matcher::find`]: compares with every path in every way.
fn slow_find(library: &[(u32, String)], row_path: &str) -> PathMatch<u32> {
    let split = |path: &str| -> Vec<String> {
        let parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        parts.rev().map(String::from).collect()
    };
    let stem = |parts: &mut Vec<String>| {
        if let Some((head, _)) = parts.first().and_then(|name| name.rsplit_once('.')).filter(|(head, _)| !head.is_empty()) {
            parts[0] = head.to_owned();
        }
    };
    for (stem_library, stem_row) in [(false, false), (true, false), (true, true)] {
        for fold in [false, true] {
            let parts = |path: &str, is_stem: bool| {
                let mut parts = split(&if fold { path.to_lowercase() } else { path.to_owned() });
                if is_stem {
                    stem(&mut parts);
                }
                parts
            };
            let wanted = parts(row_path, stem_row);
            let score = |path: &str| {
                let parts = parts(path, stem_library);
                let n_shared = parts.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
                (n_shared, n_shared == wanted.len() && parts.len() == wanted.len())
            };
            let best = library.iter().map(|(_, path)| score(path)).max().unwrap_or_default();
            if best.0 > 0 {
                let fitting: Vec<u32> = library.iter().filter(|(_, path)| score(path) == best).map(|(id, _)| *id).collect();
                return if fitting.iter().all(|id| *id == fitting[0]) {
                    PathMatch::One(fitting[0])
                } else {
                    PathMatch::Several(fitting.len())
                };
            }
        }
    }
    PathMatch::None
}

fn some_path() -> impl Strategy<Value = String> {
    let folder = prop::sample::select(vec!["a", "A", "b", ".", "é", "É", ""]);
    let name = prop::sample::select(vec!["p.jpg", "P.jpg", "p.JPG", "p.png", "p", "q.jpg", "p.jpg.png", ".jpg", "p."]);
    let slash = prop::sample::select(vec!["/", "\\"]);
    (prop::collection::vec((folder, slash), 0..4), name).prop_map(|(folders, name)| {
        let folders: Vec<String> = folders.into_iter().map(|(folder, slash)| format!("{folder}{slash}")).collect();
        format!("{}{name}", folders.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_matcher_equals_the_slow_one(library in prop::collection::vec((0..3u32, some_path()), 0..8), wanted in prop::collection::vec(some_path(), 1..8)) {
        let matcher = Matcher::new(library.iter().map(|(id, path)| (*id, Path::new(path))));
        for path in wanted {
            prop_assert_eq!(matcher.find(&path), slow_find(&library, &path), "{} in {:?}", path, library);
        }
    }
}

#[test]
fn paths_find_the_images_that_people_mean() {
    let library =
        ["/x/a/b.jpg", "/x/c/b.jpg", "/y/a/b.jpg", "/x/c/Only.JPG", "/x/c/d.png", "/x/c/d.tif", "/x/v1.2.jpg", "z/b.jpg", "/w/z/b.jpg"];
    let matcher = Matcher::new(library.iter().enumerate().map(|(i, path)| (i, Path::new(path))));
    for (path, expected) in [
        ("/x/a/b.jpg", PathMatch::One(0)),
        ("x\\c\\b.jpg", PathMatch::One(1)),
        ("old/c/b.jpg", PathMatch::One(1)),
        ("a/b.jpg", PathMatch::Several(2)),
        ("b.jpg", PathMatch::Several(5)),
        ("z/b.jpg", PathMatch::One(7)),
        ("C:\\photos\\only.jpg", PathMatch::One(3)),
        (" Only.JPG ", PathMatch::One(3)),
        ("only", PathMatch::One(3)),
        ("only.heic", PathMatch::One(3)),
        ("c/d", PathMatch::Several(2)),
        ("d.png", PathMatch::One(4)),
        ("D.TIF", PathMatch::One(5)),
        ("v1.2", PathMatch::One(6)),
        ("e.jpg", PathMatch::None),
        ("", PathMatch::None),
        ("/", PathMatch::None),
    ] {
        assert_eq!(matcher.find(path), expected, "{path}");
    }
    let twice = Matcher::new(["/x/a.jpg", "/y/a.jpg"].map(|path| (7, Path::new(path))));
    assert_eq!(twice.find("a.jpg"), PathMatch::One(7), "two places of one image");
    for (folder, path, expected) in [
        ("/x", "c/b.jpg", PathMatch::One(1)),
        ("/y/a", "./b.jpg", PathMatch::One(2)),
        ("/y", "/x/a/b.jpg", PathMatch::One(0)),
        ("/q", "b.jpg", PathMatch::Several(5)),
        ("/q", "c/b.jpg", PathMatch::One(1)),
    ] {
        assert_eq!(matcher.find_from(Path::new(folder), path), expected, "{path} from {folder}");
    }
}

#[test]
fn the_captions_of_the_toys_are_read() {
    let table = table("captions.tsv", "train/car/1.png\ta red car\ntrain/car/1.png\ta car in red, plain\ntrain/cow/2.png\ta cow\n");
    assert_eq!(table.format, TableFormat::Tsv);
    assert_eq!(table.rows, [row("train/car/1.png", None, &["a red car", "a car in red, plain"]), row("train/cow/2.png", None, &["a cow"])]);
}

#[test]
fn genuine_flickr8k_captions_are_read() {
    let Some(root) = big_data("flickr8k") else {
        eprintln!("skipped: TESSERA_DATA is not set");
        return;
    };
    let table = read(&root.join("Flickr8k.token.txt")).unwrap();
    assert_eq!((table.format, table.rows.len(), table.n_problems), (TableFormat::Flickr8k, 7000, 0));
    assert!(table.rows.iter().all(|row| row.captions.len() == 5));
    assert_eq!(table.rows[0].captions[1], "A girl going into a wooden building .");
    let images: Vec<PathBuf> = fs::read_dir(root.join("images")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let matcher = Matcher::new(images.iter().enumerate().map(|(i, path)| (i, path.as_path())));
    let n_found =
        table.rows.iter().filter(|row| matches!(matcher.find(&row.path), PathMatch::One(i) if images[i].ends_with(&row.path))).count();
    assert_eq!(n_found, 7000);
    let dir = TempDir::new().unwrap();
    for format in TableFormat::ALL.into_iter().filter(|format| *format != TableFormat::Sidecar) {
        let to = dir.path().join(format.name());
        tables::write(format, &table.rows, &to).unwrap();
        assert_eq!(read(&to).unwrap().rows, table.rows, "{format}");
    }
}
