//! Numbers in the directory of an archive, 0 where the bytes end.

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..at + N).and_then(|found| found.try_into().ok());
    found.unwrap_or([0; N])
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(bytes, at))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(bytes, at))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}
