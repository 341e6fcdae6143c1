//! Archives as bytes, with mistakes.

/// A member of an archive.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) content: Vec<u8>,
    pub(super) method: u16,
    pub(super) flags: u16,
    /// The size in the directory, if it is not that of the content.
    pub(super) length: Option<u32>,
    /// The bytes in the archive, if they are not the content.
    pub(super) compressed: Option<Vec<u8>>,
    /// The offset in the directory, if it is not where the member is.
    pub(super) offset: Option<u32>,
}

impl Member {
    pub(super) fn new(name: &'static str, content: impl Into<Vec<u8>>) -> Self {
        let content = content.into();
        Self {
            name,
            content,
            method: 0,
            flags: 0,
            length: None,
            compressed: None,
            offset: None,
        }
    }
}

/// Writes an archive.
pub(super) fn archive(members: &[Member]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let stored = member.compressed.as_ref().unwrap_or(&member.content);
        let offset = member.offset.unwrap_or(bytes.len() as u32);
        let length = member.length.unwrap_or(member.content.len() as u32);
        let name = member.name.as_bytes();
        let mut common = Vec::new();
        for number in [20, member.flags, member.method, 0, 0] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc32(&member.content), stored.len() as u32, length] {
            common.extend(number.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(name);
        bytes.extend(stored);
        directory.extend(b"PK\x01\x02");
        directory.extend(20_u16.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name);
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = (members.len() as u16).to_le_bytes();
    bytes.extend([count, count].concat());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
