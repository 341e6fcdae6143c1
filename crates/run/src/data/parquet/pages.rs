//! The sizes of the pages of a Parquet file, checked before any page is decoded.
//!
//! The decoder allocates the size that a page header declares, and decompresses gzip without a limit; a page of few bytes may have many
//! values. So the headers are read here first:
//! they are structs of the Thrift compact protocol, whose integers are enough.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::SchemaDescriptor;

use crate::core::rows::pair::Origin;
use crate::data::error::DataError;

/// The largest compression ratio of gzip, which zeros have.
const GZIP_RATIO: u64 = 1032;

/// How many bytes of a page header are read at first. Headers with long statistics are longer.
const HEADER_BYTES: usize = 256;

/// The levels of structs and lists in a page header that are read.
const MAX_DEPTH: usize = 64;

/// Why a page is not read.
enum Problem {
    Invalid(ParquetError),
    Compression(&'static str),
    /// The page has this many bytes, or more than the limit.
    Bytes(u64),
    /// The page has this many values.
    Values(u64),
}

/// The limits of one page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// When it is decompressed.
    pub(super) bytes: u64,
    pub(super) values: u64,
}

impl From<ParquetError> for Problem {
    fn from(error: ParquetError) -> Self {
        Self::Invalid(error)
    }
}

/// Checks the pages of the columns that are read.
pub(super) fn check<R: ChunkReader>(
    file: &Path,
    reader: &R,
    metadata: &ParquetMetaData,
    columns: &SchemaDescriptor,
    limits: Limits,
) -> Result<(), DataError> {
    let read: HashSet<_> = columns
        .columns()
        .iter()
        .map(|column| column.path())
        .collect();
    let chunks = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns);
    for column in chunks.filter(|column| read.contains(column.column_path())) {
        check_column(reader, column, limits).map_err(|problem| {
            let (file, column) = (file.to_path_buf(), column.column_path().string());
            let large = |file, column, limit, unit, found| DataError::LargePage {
                file,
                column,
                limit,
                unit,
                found,
            };
            match problem {
                Problem::Bytes(found) => large(file, column, limits.bytes, "bytes", found),
                Problem::Values(found) => large(file, column, limits.values, "values", found),
                Problem::Compression(found) => DataError::ParquetCompression {
                    file,
                    column,
                    found,
                },
                Problem::Invalid(error) => DataError::InvalidParquet {
                    at: Origin {
                        file: file.into(),
                        line: 1,
                    },
                    reason: error.to_string(),
                },
            }
        })?;
    }
    Ok(())
}

fn check_column<R: ChunkReader>(
    reader: &R,
    column: &ColumnChunkMetaData,
    limits: Limits,
) -> Result<(), Problem> {
    let is_gzip = match column.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => false,
        Compression::GZIP(_) => true,
        Compression::BROTLI(_) => return Err(Problem::Compression("brotli")),
        Compression::LZ4 | Compression::LZ4_RAW => return Err(Problem::Compression("lz4")),
        Compression::LZO => return Err(Problem::Compression("lzo")),
    };
    let (mut at, length) = column.byte_range();
    let end = at.saturating_add(length).min(reader.len());
    while at < end {
        let page = PageSizes::read(reader, at)?;
        if page.decompressed > limits.bytes {
            return Err(Problem::Bytes(page.decompressed));
        }
        if page.values > limits.values {
            return Err(Problem::Values(page.values));
        }
        let start = at + page.header;
        if is_gzip && page.compressed.saturating_mul(GZIP_RATIO) > limits.bytes {
            let bytes = usize::try_from(page.compressed.min(reader.len())).unwrap_or(usize::MAX);
            let bytes = reader.get_bytes(start, bytes)?;
            let levels = usize::try_from(page.levels)
                .unwrap_or(usize::MAX)
                .min(bytes.len());
            let decoder = MultiGzDecoder::new(&bytes[levels..]);
            // An error of the decoder is reported when the page is decoded.
            let most = limits.bytes.saturating_add(1);
            let found = io::copy(&mut decoder.take(most), &mut io::sink()).unwrap_or(0);
            if found > limits.bytes {
                return Err(Problem::Bytes(found));
            }
        }
        at = start.saturating_add(page.compressed);
    }
    Ok(())
}

/// The sizes in the header of a page: its number of values, and bytes.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageSizes {
    header: u64,
    decompressed: u64,
    compressed: u64,
    /// The levels before the values of a page of version 2, which are not compressed.
    levels: u64,
    /// With nulls; of a page of a dictionary, its entries.
    values: u64,
}

impl PageSizes {
    fn read<R: ChunkReader>(reader: &R, at: u64) -> Result<Self, ParquetError> {
        let left = usize::try_from(reader.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let mut length = HEADER_BYTES.min(left);
        loop {
            let bytes = reader.get_bytes(at, length)?;
            match Self::parse(&bytes) {
                Some(sizes) => return Ok(sizes),
                None if length == left => {
                    return Err(ParquetError::General("invalid page header".to_owned()));
                }
                None => length = length.saturating_mul(4).min(left),
            }
        }
    }

    /// `None` if the bytes end within the header, or are not a header.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (mut sizes, mut rest) = (Self::default(), bytes);
        skip_struct(&mut rest, MAX_DEPTH, &mut Vec::new(), &mut |path, value| {
            // A negative size is an error of the decoder.
            let value = u64::try_from(value).unwrap_or(0);
            match path {
                [2] => sizes.decompressed = value,
                [3] => sizes.compressed = value,
                // The header of a page of version 1, a dictionary, or a page of version 2.
                [5 | 7 | 8, 1] => sizes.values = value,
                [8, 5 | 6] => sizes.levels = sizes.levels.saturating_add(value),
                _ => {}
            }
        })?;
        sizes.header = (bytes.len() - rest.len()) as u64;
        Some(sizes)
    }
}

/// Reads a struct, and passes its integers, and the integers of structs in it, with the path of their field.
fn skip_struct(
    bytes: &mut &[u8],
    depth: usize,
    path: &mut Vec<i64>,
    integer: &mut impl FnMut(&[i64], i64),
) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let mut field = 0_i64;
    loop {
        let head = byte(bytes)?;
        if head == 0 {
            return Some(());
        }
        field = match head >> 4 {
            0 => zigzag(bytes)?,
            delta => field.wrapping_add(i64::from(delta)),
        };
        path.push(field);
        match head & 0x0f {
            1 | 2 => {}
            4..=6 => integer(path, zigzag(bytes)?),
            12 => skip_struct(bytes, depth, path, integer)?,
            kind => skip(bytes, kind, depth)?,
        }
        path.pop();
    }
}

/// Skips a value that is not an integer or struct of the header itself.
fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match kind {
        // Booleans in a list have a byte each.
        1..=3 => byte(bytes).map(drop),
        4..=6 => varint(bytes).map(drop),
        7 => skip_bytes(bytes, 8),
        8 => {
            let length = varint(bytes)?;
            skip_bytes(bytes, length)
        }
        9 | 10 => {
            let head = byte(bytes)?;
            let length = if head >> 4 == 15 {
                varint(bytes)?
            } else {
                u64::from(head >> 4)
            };
            (0..length).try_for_each(|_| skip(bytes, head & 0x0f, depth))
        }
        11 => {
            let length = varint(bytes)?;
            let kinds = if length == 0 { 0 } else { byte(bytes)? };
            (0..length).try_for_each(|_| {
                skip(bytes, kinds >> 4, depth)?;
                skip(bytes, kinds & 0x0f, depth)
            })
        }
        12 => skip_struct(bytes, depth, &mut Vec::new(), &mut |_, _| ()),
        13 => skip_bytes(bytes, 16),
        _ => None,
    }
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    bytes.split_off_first().copied()
}

fn skip_bytes(bytes: &mut &[u8], length: u64) -> Option<()> {
    bytes.split_off(..usize::try_from(length).ok()?).map(drop)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(bytes)?;
        value |= u64::from(next & 0x7f) << shift;
        if next & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn zigzag(bytes: &mut &[u8]) -> Option<i64> {
    let value = varint(bytes)?;
    Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use bytes::Bytes;
    use parquet::basic::{BrotliLevel, Compression, GzipLevel};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::{Limits, PageSizes};

    /// A file with one page, of 5 MiB and a header of its length, that gzip compresses to some kilobytes.
    fn gzip_of_zeros() -> Vec<u8> {
        let schema = parse_message_type("message m { required binary a; }").unwrap();
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
            .build();
        let mut file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let zeros = ByteArray::from(vec![0; 5 << 20]);
        column
            .typed::<ByteArrayType>()
            .write_batch(&[zeros], None, None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.into_inner().unwrap()
    }

    fn check(bytes: &[u8], limit: u64) -> Result<(), String> {
        check_limits(
            bytes,
            Limits {
                bytes: limit,
                values: 1,
            },
        )
    }

    fn check_limits(bytes: &[u8], limits: Limits) -> Result<(), String> {
        let bytes = Bytes::copy_from_slice(bytes);
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&bytes)
            .unwrap();
        let columns = metadata.file_metadata().schema_descr();
        super::check(Path::new("x.parquet"), &bytes, &metadata, columns, limits)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_compression_that_is_not_supported_is_named() {
        let bytes = Bytes::from(gzip_of_zeros());
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&bytes)
            .unwrap();
        let group = metadata.row_group(0).clone();
        let brotli = Compression::BROTLI(BrotliLevel::default());
        let column = group
            .column(0)
            .clone()
            .into_builder()
            .set_compression(brotli);
        let columns = vec![column.build().unwrap()];
        let group = group
            .into_builder()
            .set_column_metadata(columns)
            .build()
            .unwrap();
        let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
        let (columns, limits) = (
            metadata.file_metadata().schema_descr(),
            Limits {
                bytes: 1 << 30,
                values: 1,
            },
        );
        let error = super::check(Path::new("x.parquet"), &bytes, &metadata, columns, limits);
        assert_eq!(
            error.unwrap_err().to_string(),
            "x.parquet: column `a`: expected snappy, gzip, zstd or no compression, found brotli; \
             write the file with one of them"
        );
    }

    #[test]
    fn a_decompression_bomb_is_found_whatever_its_header_declares() {
        let mut file = gzip_of_zeros();
        assert!(file.len() < 20_000, "{}", file.len());
        let error = |found| {
            let expected = "x.parquet: column `a`: expected pages of at most 1048576 bytes, found";
            Err(format!(
                "{expected} {found}; write the file with smaller pages"
            ))
        };
        // A length of 4 bytes before the value.
        let size = (5 << 20) + 4;
        assert_eq!(check(&file, size), Ok(()));
        assert_eq!(check(&file, 1 << 20), error(size));
        // The header of the page as if it had one byte; the integer has its length.
        let zigzag = 2 * size;
        let declared: Vec<u8> = (0..4)
            .map(|n| (zigzag >> (7 * n)) as u8 & 0x7f | if n < 3 { 0x80 } else { 0 })
            .collect();
        let at = file
            .windows(4)
            .position(|window| window == declared)
            .unwrap();
        file[at..at + 4].copy_from_slice(&[0x82, 0x80, 0x80, 0]);
        assert_eq!(check(&file, 1 << 20), error((1 << 20) + 1));
        assert_eq!(check(&file, size), Ok(()));
    }

    #[test]
    fn trap_40_the_number_of_values_of_a_page_is_limited() {
        let limits = Limits {
            bytes: u64::MAX,
            values: 0,
        };
        let expected = "x.parquet: column `a`: expected pages of at most 0 values, found 1; write the file with smaller \
                        pages";
        assert_eq!(
            check_limits(&gzip_of_zeros(), limits),
            Err(expected.to_owned())
        );
    }

    /// A header of a page of version 2: type 3, sizes 300 and 100, levels of 2 and 5 bytes, statistics.
    const HEADER: [u8; 32] = [
        0x15, 6, 0x15, 0xd8, 4, 0x15, 0xc8, 1,    // Fields 1, 2 and 3.
        0x5c, // Field 8, a struct.
        0x15, 20, 0x15, 0, 0x15, 20, 0x15, 0, 0x15, 4, 0x15, 10, 0x11, // Fields 1 to 7.
        0x1c, 0x18, 1, b'a', 0x18, 1, b'b', 0, // Field 8: a struct of strings.
        0, 0,
    ];

    #[test]
    fn the_sizes_of_a_page_are_read() {
        let sizes = PageSizes::parse(&[&HEADER[..], b"data"].concat());
        let (decompressed, compressed) = (300, 100);
        let expected = PageSizes {
            header: 32,
            decompressed,
            compressed,
            levels: 7,
            values: 10,
        };
        assert_eq!(sizes, Some(expected));
    }

    #[test]
    fn headers_that_are_cut_off_or_invalid_are_not_sizes() {
        for length in 0..HEADER.len() {
            assert_eq!(PageSizes::parse(&HEADER[..length]), None, "{length}");
        }
        let nested = [0x1c].repeat(100_000);
        let long_list = [&[0x19, 0xf1][..], &[0xff; 9], &[1], &[0; 100]].concat();
        let long_string = [&[0x18][..], &[0xff; 9], &[1], &[0; 100]].concat();
        for bytes in [
            &nested[..],
            &[0xff; 100],
            &long_list,
            &long_string,
            &[0x15, 0x80],
        ] {
            assert_eq!(PageSizes::parse(bytes), None);
        }
    }
}
