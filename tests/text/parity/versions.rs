//! The committed list of characters that other Unicode versions treat differently from the reference's.

const LIST: &str = include_str!("../../parity/unicode_versions.txt");

/// Returns the characters of the sections whose name begins with `prefix`.
pub(crate) fn section(prefix: &str) -> impl Iterator<Item = char> {
    let mut inside = false;
    LIST.lines()
        .filter(move |line| {
            if let Some(name) = line.strip_prefix('[') {
                inside = name.starts_with(prefix);
            }
            inside && !line.is_empty() && !line.starts_with(['[', '#'])
        })
        .flat_map(|line| {
            let (first, last) = line.split_once("..").unwrap_or((line, line));
            let code = |hex: &str| u32::from_str_radix(hex, 16).expect("hexadecimal code points");
            (code(first)..=code(last)).filter_map(char::from_u32)
        })
}
