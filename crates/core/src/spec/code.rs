//! The fingerprints of the code of metrics: 64 bits, which the macros compute from the tokens of a function.

use serde::Serializer;

use super::MetricSpec;

/// Returns the fingerprint of a composite: of its expression, and of the code and version of each component.
pub const fn combined_code(expression: u64, components: &[MetricSpec<'_>]) -> u64 {
    let mut hash = added(0xcbf2_9ce4_8422_2325, &expression.to_le_bytes());
    let mut index = 0;
    while index < components.len() {
        let MetricSpec { code, version, .. } = components[index];
        hash = match code {
            Some(code) => added(hash, &code.to_le_bytes()),
            None => added(hash, b"unknown"),
        };
        hash = added(hash, version.as_bytes());
        index += 1;
    }
    hash
}

/// Returns the fingerprint of a composite whose expression is compared by other values; `None` if no component has one.
pub(crate) const fn code_of_components(components: &[MetricSpec<'_>]) -> Option<u64> {
    let mut index = 0;
    while index < components.len() {
        if components[index].code.is_some() {
            return Some(combined_code(0, components));
        }
        index += 1;
    }
    None
}

/// FNV-1a of bytes, and of a byte that ends them.
const fn added(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut index = 0;
    while index <= bytes.len() {
        let byte = if index < bytes.len() {
            bytes[index]
        } else {
            0xff
        };
        hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

/// Serializes a fingerprint as 16 hexadecimal digits, since not every reader of JSON keeps 64 bits of a number.
#[expect(clippy::ref_option, reason = "required by serde")]
pub(super) fn serialize<S: Serializer>(code: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match code {
        Some(code) => to.collect_str(&format_args!("{code:016x}")),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_composite_depends_on_each_component_and_its_version() {
        let known = MetricSpec::new("a").with_code(1);
        let all = [
            combined_code(0, &[]),
            combined_code(1, &[known]),
            combined_code(2, &[known]),
            combined_code(1, &[known.with_code(2)]),
            combined_code(1, &[known.with_version("2")]),
            combined_code(1, &[MetricSpec::new("a")]),
            combined_code(1, &[known, known]),
        ];
        let distinct: std::collections::HashSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(code_of_components(&[MetricSpec::new("a"), known]).is_some());
        assert_eq!(code_of_components(&[MetricSpec::new("a")]), None);
        // Manifests contain it.
        assert_eq!(combined_code(1, &[known]), 0xb81d_aa67_c802_f891);
    }

    #[test]
    fn a_fingerprint_is_hexadecimal_digits() {
        let json = |spec| serde_json::to_value(spec).unwrap();
        let spec = MetricSpec::new("a");
        assert_eq!(json(spec.with_code(0xff))["code"], "00000000000000ff");
        assert_eq!(json(spec).get("code"), None);
    }
}
