//! One shard: whole images as a Parquet file, one row each, in the order of their hashes.
//!
//! Columns: `hash` (16 bytes, the highest first), `place`, `class`, `object`, `captions`,
//! `elements` ([`Elements::to_bytes`]), `appearance` ([`Appearance::to_bytes`]), `signature`
//! ([`Signature::bytes`]) and `thumbnail` (JPEG). What elements were cut as stands in the file's
//! metadata. Nothing is compressed: pixels are already, and elements hardly can be; every value
//! stands in full. Equal images give equal bytes.
//!
//! A place that begins with the folder that was looked through is written with `/./` between the
//! two, as rsync has it: `/data/photos/./sea/1.png`, which names the same file. Only the words
//! below that folder count.

use std::path::Path;
use std::sync::Arc;

use ::bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use rayon::prelude::*;

use super::ImageHash;
use crate::bytes::options_text;
use crate::ckm::element::{self, Elements};
use crate::ckm::{Ckm, CkmOptions};
use crate::copies::{self, Signature};
use crate::error::{Error, Result, contained};
use crate::hash::hash_hex;
use crate::picture::appearance::{self, Appearance};
use crate::picture::{Picture, thumbnail};

/// Values of a column that need no proof.
const FEW: usize = 100_000;

/// What stands in a written place between the folder that was looked through and the rest.
const BELOW: &str = "/./";

const SCHEMA: &str = "message image {
    required fixed_len_byte_array(16) hash;
    required binary place (UTF8);
    optional binary class (UTF8);
    optional binary object (UTF8);
    repeated binary captions (UTF8);
    required binary elements;
    required binary appearance;
    required binary signature;
    required binary thumbnail;
}";

/// Where columns stand in the schema.
mod column {
    pub(super) const HASH: usize = 0;
    pub(super) const PLACE: usize = 1;
    pub(super) const CLASS: usize = 2;
    pub(super) const OBJECT: usize = 3;
    pub(super) const CAPTIONS: usize = 4;
    pub(super) const ELEMENTS: usize = 5;
    pub(super) const APPEARANCE: usize = 6;
    pub(super) const SIGNATURE: usize = 7;
    pub(super) const THUMBNAIL: usize = 8;
    pub(super) const COUNT: usize = 9;
}

/// The keys of the metadata, with what this version writes for all but the first.
const OPTIONS: &str = "tessera.options";

fn versions() -> [(&'static str, String); 3] {
    [
        ("tessera.elements", element::VERSION.to_string()),
        ("tessera.appearance", appearance::VERSION.to_owned()),
        ("tessera.signature", copies::VERSION.to_owned()),
    ]
}

/// An image of a shard.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardImage {
    /// Its hash.
    pub hash: ImageHash,
    /// Where it was found.
    pub place: String,
    /// The folder that was looked through, with which the place begins; empty where none is known.
    pub folder: String,
    /// What it shows, as far as that is known.
    pub class: Option<String>,
    /// Which object it shows: other images of it are near copies.
    pub object: Option<String>,
    /// What people say it shows.
    pub captions: Vec<String>,
    /// [`Elements::to_bytes`].
    pub elements: Vec<u8>,
    /// [`Appearance::to_bytes`].
    pub appearance: Vec<u8>,
    /// [`Signature::bytes`] of its thumbnail.
    pub signature: Vec<u8>,
    /// A thumbnail as JPEG.
    pub thumbnail: Vec<u8>,
}

impl ShardImage {
    /// An image of which nothing but its pixels and its place is known. In the place `/./` may part
    /// the folder that was looked through from the rest.
    ///
    /// # Errors
    /// As [`Ckm::elements`].
    pub fn of(hash: ImageHash, place: String, picture: &Picture, machine: &Ckm) -> Result<Self> {
        let jpeg = thumbnail::encode(&thumbnail::shrink(&picture.pixels));
        let signature = thumbnail::decode(&jpeg).map(|small| Signature::of(&small).bytes().to_vec()).unwrap_or_default();
        let (folder, place) = parted(&place);
        Ok(Self {
            hash,
            place,
            folder,
            class: None,
            object: None,
            captions: Vec::new(),
            elements: machine.elements(picture)?.to_bytes(),
            appearance: Appearance::of(&picture.pixels).to_bytes(),
            signature,
            thumbnail: jpeg,
        })
    }
}

/// A place as it is written.
fn written(folder: &str, place: &str) -> String {
    match place.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) {
        Some(below) if !folder.is_empty() => format!("{folder}{BELOW}{below}"),
        _ => place.to_owned(),
    }
}

/// The folder that was looked through, if it is told, and the place.
fn parted(written: &str) -> (String, String) {
    match written.split_once(BELOW) {
        Some((folder, below)) => (folder.to_owned(), format!("{folder}/{below}")),
        None => (String::new(), written.to_owned()),
    }
}

/// What an image is called: its place below the folder that was looked through. Of a full path or
/// a URL without one the name of the file, for the folders above say nothing of the image.
fn name_of(written: &str) -> &str {
    if let Some((_, below)) = written.split_once(BELOW) {
        return below;
    }
    let is_of_windows = written.as_bytes().get(1..3).is_some_and(|rest| matches!(rest, b":\\" | b":/"));
    let is_full = written.starts_with(['/', '\\']) || written.contains("://") || is_of_windows;
    if is_full { written.rsplit(['/', '\\']).next().unwrap_or(written) } else { written }
}

fn failed(error: ParquetError) -> Error {
    Error::value("shard", "a Parquet file", error.to_string())
}

/// The bytes of a shard with these images, whose elements were cut by these options. Of images of
/// one hash the first stays. O(bytes).
///
/// # Errors
/// [`Error::Value`] without images.
pub fn write_shard(options: &CkmOptions, images: &[ShardImage]) -> Result<Vec<u8>> {
    let mut images: Vec<&ShardImage> = images.iter().collect();
    images.sort_by_key(|image| image.hash);
    images.dedup_by_key(|image| image.hash);
    if images.is_empty() {
        return Err(Error::value("shard", "one image or more", "none"));
    }
    let known = std::iter::once((OPTIONS, options_text(options))).chain(versions());
    let metadata = known.map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("tessera".into())
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema()?, Arc::new(properties)).map_err(failed)?;
    let mut group = writer.next_row_group().map_err(failed)?;
    let mut at = 0;
    while let Some(mut to) = group.next_column().map_err(failed)? {
        if at == column::HASH {
            let hashes: Vec<FixedLenByteArray> = images.iter().map(|image| image.hash.0.to_be_bytes().to_vec().into()).collect();
            to.typed::<FixedLenByteArrayType>().write_batch(&hashes, None, None).map_err(failed)?;
        } else {
            let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
            for image in &images {
                let own = values_of(image, at);
                repeated.extend((0..own.len().max(1)).map(|i| i16::from(i > 0)));
                defined.extend(std::iter::repeat_n(i16::from(!own.is_empty()), own.len().max(1)));
                values.extend(own);
            }
            let defined = matches!(at, column::CLASS | column::OBJECT | column::CAPTIONS).then_some(&defined[..]);
            let repeated = (at == column::CAPTIONS).then_some(&repeated[..]);
            to.typed::<ByteArrayType>().write_batch(&values, defined, repeated).map_err(failed)?;
        }
        to.close().map_err(failed)?;
        at += 1;
    }
    group.close().map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(bytes)
}

fn values_of(image: &ShardImage, at: usize) -> Vec<ByteArray> {
    let text = |text: &String| ByteArray::from(text.as_bytes().to_vec());
    match at {
        column::PLACE => vec![text(&written(&image.folder, &image.place))],
        column::CLASS => image.class.iter().map(text).collect(),
        column::OBJECT => image.object.iter().map(text).collect(),
        column::CAPTIONS => image.captions.iter().map(text).collect(),
        column::ELEMENTS => vec![image.elements.clone().into()],
        column::APPEARANCE => vec![image.appearance.clone().into()],
        column::SIGNATURE => vec![image.signature.clone().into()],
        _ => vec![image.thumbnail.clone().into()],
    }
}

fn schema() -> Result<Arc<Type>> {
    parse_message_type(SCHEMA).map(Arc::new).map_err(failed)
}

/// A shard that is read column by column.
pub struct Shard {
    name: String,
    reader: SerializedFileReader<Bytes>,
    /// Bytes of the file.
    size: usize,
    options: CkmOptions,
    hashes: Vec<ImageHash>,
}

impl Shard {
    /// The shard that these bytes are; `name` is what errors call it. Any bytes are safe to read.
    ///
    /// # Errors
    /// [`Error::Data`] when they have another hash than the one in the manifest, where that is
    /// given, or are no shard that this version can read.
    pub fn open(name: &str, bytes: impl Into<Bytes>, hash: Option<&str>) -> Result<Self> {
        let bytes: Bytes = bytes.into();
        let found = hash_hex(&bytes);
        if let Some(hash) = hash.filter(|hash| *hash != found) {
            let advice = "the file is damaged: copy it anew, or make the collection's shards again";
            return Err(Error::data(Path::new(name), format!("a shard of hash {hash}"), format!("hash {found}"), advice));
        }
        let size = bytes.len();
        let opened = || -> Result<Self> {
            let reader = SerializedFileReader::new(bytes).map_err(failed)?;
            let file = reader.metadata().file_metadata();
            let columns = |of: &Type| of.get_fields().iter().map(|field| format!("{field:?}")).collect::<Vec<_>>();
            if columns(file.schema()) != columns(&*schema()?) || reader.num_row_groups() != 1 {
                return Err(Error::value("shard", "the columns of a shard, in one row group", "others"));
            }
            let value = |key: &str| file.key_value_metadata()?.iter().find(|pair| pair.key == key)?.value.clone();
            for (key, expected) in versions() {
                let found = value(key);
                if found.as_deref() != Some(&expected) {
                    return Err(Error::value("shard", format!("{key} {expected}, as this version makes it"), found.unwrap_or_default()));
                }
            }
            let options: CkmOptions = ron::from_str(&value(OPTIONS).unwrap_or_default())
                .map_err(|error| Error::value("shard", "options of elements", error.to_string()))?;
            options.check()?;
            let mut shard = Self { name: name.to_owned(), reader, size, options, hashes: Vec::new() };
            let hash = |bytes: FixedLenByteArray| bytes.data().try_into().ok().map(|bytes| ImageHash(u128::from_be_bytes(bytes)));
            let hashes: Option<Vec<ImageHash>> =
                shard.read::<FixedLenByteArrayType>(column::HASH)?.into_iter().map(|row| row.into_iter().next().and_then(hash)).collect();
            shard.hashes = hashes.filter(|hashes| hashes.is_sorted_by(|a, b| a < b)).ok_or_else(|| shard.wrong("hashes in order"))?;
            Ok(shard)
        };
        guarded(name, opened)
    }

    /// What its elements were cut by.
    pub fn options(&self) -> &CkmOptions {
        &self.options
    }

    /// The hashes of its images, ascending.
    pub fn hashes(&self) -> &[ImageHash] {
        &self.hashes
    }

    /// Where its images were found.
    ///
    /// # Errors
    /// [`Error::Data`] when the column cannot be read.
    pub fn places(&self) -> Result<Vec<String>> {
        Ok(self.written_places()?.iter().map(|written| parted(written).1).collect())
    }

    /// What its images are called: their places below the folders that were looked through, and the
    /// names of files alone where these are full paths of which no folder is known.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn names(&self) -> Result<Vec<String>> {
        Ok(self.written_places()?.iter().map(|written| name_of(written).to_owned()).collect())
    }

    fn written_places(&self) -> Result<Vec<String>> {
        self.one(column::PLACE, |bytes| String::from_utf8(bytes.to_vec()).ok())
    }

    /// The classes of its images.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn classes(&self) -> Result<Vec<Option<String>>> {
        self.maybe(column::CLASS)
    }

    /// The objects of its images.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn objects(&self) -> Result<Vec<Option<String>>> {
        self.maybe(column::OBJECT)
    }

    /// The captions of its images.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn captions(&self) -> Result<Vec<Vec<String>>> {
        let text = |bytes: ByteArray| String::from_utf8(bytes.data().to_vec()).ok();
        let row = |row: Vec<ByteArray>| row.into_iter().map(text).collect::<Option<Vec<String>>>();
        self.guarded(|| {
            self.read::<ByteArrayType>(column::CAPTIONS)?.into_iter().map(row).collect::<Option<_>>().ok_or_else(|| self.wrong("text"))
        })
    }

    /// The elements of its images.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn elements(&self) -> Result<Vec<Elements>> {
        self.one(column::ELEMENTS, |bytes| Elements::from_bytes(bytes, &self.options))
    }

    /// The appearances of its images.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn appearances(&self) -> Result<Vec<Appearance>> {
        self.one(column::APPEARANCE, Appearance::from_bytes)
    }

    /// The signatures of its images; none where there is no thumbnail.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn signatures(&self) -> Result<Vec<Option<Signature>>> {
        self.one(column::SIGNATURE, |bytes| if bytes.is_empty() { Some(None) } else { Signature::from_bytes(bytes).map(Some) })
    }

    /// The thumbnails of its images as JPEG.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn thumbnails(&self) -> Result<Vec<Vec<u8>>> {
        self.one(column::THUMBNAIL, |bytes| Some(bytes.to_vec()))
    }

    /// All that it holds.
    ///
    /// # Errors
    /// As [`Shard::places`].
    pub fn images(&self) -> Result<Vec<ShardImage>> {
        let raw = |at| self.one(at, |bytes| Some(bytes.to_vec()));
        let places = self.written_places()?;
        let known = places.iter().map(|written| parted(written)).zip(self.classes()?).zip(self.objects()?).zip(self.captions()?);
        let made = raw(column::ELEMENTS)?.into_iter().zip(raw(column::APPEARANCE)?).zip(raw(column::SIGNATURE)?).zip(self.thumbnails()?);
        let image = |((hash, ((((folder, place), class), object), captions)), (((elements, appearance), signature), thumbnail))| {
            ShardImage { hash, place, folder, class, object, captions, elements, appearance, signature, thumbnail }
        };
        Ok(self.hashes.iter().copied().zip(known).zip(made).map(image).collect())
    }

    fn one<T: Send>(&self, at: usize, value: impl Fn(&[u8]) -> Option<T> + Sync) -> Result<Vec<T>> {
        let row = |row: &Vec<ByteArray>| row.first().and_then(|bytes| value(bytes.data()));
        self.guarded(|| {
            self.read::<ByteArrayType>(at)?.par_iter().map(row).collect::<Option<_>>().ok_or_else(|| self.wrong("values of its column"))
        })
    }

    fn maybe(&self, at: usize) -> Result<Vec<Option<String>>> {
        let text = |row: Vec<ByteArray>| row.first().map(|bytes| String::from_utf8(bytes.data().to_vec()).ok());
        let row = |row: Vec<ByteArray>| match text(row) {
            None => Some(None),
            Some(text) => text.map(Some),
        };
        self.guarded(|| self.read::<ByteArrayType>(at)?.into_iter().map(row).collect::<Option<_>>().ok_or_else(|| self.wrong("text")))
    }

    /// Refuses pages in which a few bytes stand for much memory: a dictionary names one value any
    /// number of times, values that are told by their differences from others may share a long
    /// beginning, and runs stand for any number of values. What [`write_shard`] makes has every
    /// value in full, and fewer values than bytes, unless one image has many equal captions.
    fn check_pages(&self, group: &dyn RowGroupReader, column: usize) -> Result<()> {
        let mut pages = group.get_column_page_reader(column).map_err(failed)?;
        let mut values = 0_usize;
        while let Some(page) = pages.get_next_page().map_err(failed)? {
            if page.page_type() == PageType::DICTIONARY_PAGE || page.encoding() != Encoding::PLAIN {
                return Err(self.wrong("every value in full (PLAIN, no dictionary)"));
            }
            values = values.saturating_add(page.num_values() as usize);
            if values > self.size.max(FEW) {
                return Err(self.wrong("no more values than bytes"));
            }
        }
        Ok(())
    }

    /// The values of each row of a column.
    fn read<T: DataType>(&self, at: usize) -> Result<Vec<Vec<T::T>>> {
        let group = self.reader.get_row_group(0).map_err(failed)?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| self.wrong("a number of rows"))?;
        if group.num_columns() != column::COUNT {
            return Err(self.wrong("all columns"));
        }
        self.check_pages(&*group, at)?;
        let mut reader = T::get_column_reader(group.get_column_reader(at).map_err(failed)?).ok_or_else(|| self.wrong("another type"))?;
        let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (is_optional, is_list) = (matches!(at, column::CLASS | column::OBJECT | column::CAPTIONS), at == column::CAPTIONS);
        let (mut left, mut read) = (rows, 1);
        while left > 0 && read > 0 {
            (read, _, _) = reader
                .read_records(left, is_optional.then_some(&mut defined), is_list.then_some(&mut repeated), &mut values)
                .map_err(failed)?;
            left -= read.min(left);
        }
        if left > 0 {
            return Err(self.wrong("all rows"));
        }
        let mut found: Vec<Vec<T::T>> = Vec::new();
        let mut values = values.into_iter();
        if is_optional {
            for (i, defined) in defined.iter().enumerate() {
                if !is_list || repeated.get(i) == Some(&0) {
                    found.push(Vec::new());
                }
                if *defined > 0
                    && let Some(row) = found.last_mut()
                {
                    row.extend(values.next());
                }
            }
        } else {
            found.extend(values.map(|value| vec![value]));
        }
        if found.len() == rows { Ok(found) } else { Err(self.wrong("a value for each row")) }
    }

    fn wrong(&self, expected: &str) -> Error {
        Error::value("shard", expected, format!("something else in {}", self.name))
    }

    fn guarded<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        guarded(&self.name, work)
    }
}

/// Reading goes through a foreign reader: what it says is told of the shard, also where it stops.
fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let found = match contained(work) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    Err(Error::data(Path::new(name), "a shard of a collection", found, "make the collection's shards again with this version"))
}
