//! Fields of a large JSON object: a scanner keeps those that are read, and skips the others without building values.

use memchr::memchr2;

/// The most bytes of the fields that are kept.
const MAX_KEPT: usize = 64 << 20;

/// The longest key that is compared.
const MAX_KEY: usize = 128;

/// A scanner of the bytes of one object.
pub(super) struct Fields<'k> {
    keep: &'k [&'k str],
    /// The field whose elements are located.
    list: Option<&'k str>,
    depth: u64,
    in_string: bool,
    is_escaped: bool,
    /// The key of the current field, while it is read.
    key: Vec<u8>,
    in_key: bool,
    expects_key: bool,
    is_kept: bool,
    in_list: bool,
    kept: Vec<u8>,
    /// The number of bytes before the current ones.
    offset: u64,
    element: Option<u64>,
    elements: Vec<[u64; 2]>,
    has_ended: bool,
}

impl<'k> Fields<'k> {
    /// Keeps the fields with these names.
    pub(super) fn new(keep: &'k [&'k str]) -> Self {
        Self {
            keep,
            list: None,
            depth: 0,
            in_string: false,
            is_escaped: false,
            key: Vec::new(),
            in_key: false,
            expects_key: false,
            is_kept: false,
            in_list: false,
            kept: Vec::new(),
            offset: 0,
            element: None,
            elements: Vec::new(),
            has_ended: false,
        }
    }

    /// Locates the elements of the list with this name as well.
    pub(super) fn with_list(self, list: &'k str) -> Self {
        Self {
            list: Some(list),
            ..self
        }
    }

    /// Scans more bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if self.in_string && !self.is_escaped {
                let end = memchr2(b'"', b'\\', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                self.keep_bytes(&bytes[at..end])?;
                at = end;
                let Some(byte) = bytes.get(at) else { break };
                if *byte == b'\\' {
                    self.is_escaped = true;
                } else {
                    self.in_string = false;
                }
                if !self.in_string && self.in_key {
                    self.end_key();
                } else {
                    self.keep_bytes(&[*byte])?;
                }
            } else if self.in_string {
                self.is_escaped = false;
                self.keep_bytes(&[*byte])?;
            } else {
                self.feed_structure(*byte, self.offset + at as u64)?;
            }
            at += 1;
        }
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Scans a byte outside of strings.
    fn feed_structure(&mut self, byte: u8, at: u64) -> Result<(), String> {
        let is_mark = b"\xef\xbb\xbf".get(at as usize) == Some(&byte);
        if byte.is_ascii_whitespace() || is_mark {
            return Ok(());
        }
        if self.has_ended || self.depth == 0 && byte != b'{' {
            return Err(match self.has_ended {
                true => "expected one object, found more after it".to_owned(),
                false => "expected an object".to_owned(),
            });
        }
        if self.in_list && self.depth == 2 && ![b',', b']'].contains(&byte) {
            self.element.get_or_insert(at);
        }
        match byte {
            b'"' if self.depth == 1 && self.expects_key => {
                (self.in_string, self.in_key) = (true, true);
                self.key.clear();
                return Ok(());
            }
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth == 1 {
                    self.expects_key = true;
                    self.kept.push(byte);
                    return Ok(());
                }
            }
            b'}' | b']' => {
                if self.in_list && self.depth == 2 {
                    self.end_element(at);
                    self.in_list = false;
                }
                self.depth -= 1;
                if self.depth == 0 {
                    self.has_ended = true;
                    self.kept.push(b'}');
                    return Ok(());
                }
            }
            b',' if self.depth == 1 => {
                (self.is_kept, self.in_list, self.expects_key) = (false, false, true);
                return Ok(());
            }
            b',' if self.depth == 2 && self.in_list => self.end_element(at),
            _ => {}
        }
        self.keep_bytes(&[byte])
    }

    fn end_element(&mut self, at: u64) {
        if let Some(start) = self.element.take() {
            self.elements.push([start, at - start]);
        }
    }

    /// Ends the key of a field.
    fn end_key(&mut self) {
        (self.in_key, self.expects_key) = (false, false);
        if self.key.contains(&b'\\') {
            let quoted = [b"\"", &*self.key, b"\""].concat();
            let key = serde_json::from_slice::<String>(&quoted);
            self.key = key.map_or_else(|_| quoted, String::into_bytes);
        }
        self.is_kept = self.keep.iter().any(|name| name.as_bytes() == self.key);
        self.in_list = self.list.is_some_and(|name| name.as_bytes() == self.key);
        if self.is_kept {
            if self.kept.len() > 1 {
                self.kept.push(b',');
            }
            self.kept.push(b'"');
            self.kept.extend_from_slice(&self.key);
            // The colon follows in the text.
            self.kept.push(b'"');
        }
    }

    fn keep_bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.in_key {
            let room = MAX_KEY.saturating_sub(self.key.len());
            self.key.extend_from_slice(&bytes[..bytes.len().min(room)]);
        } else if self.is_kept {
            if self.kept.len() + bytes.len() > MAX_KEPT {
                return Err(format!("longer than {MAX_KEPT} bytes without its events"));
            }
            self.kept.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Returns the object with the fields that are kept.
    ///
    /// # Errors
    /// The object does not end.
    pub(super) fn finish(self) -> Result<Vec<u8>, String> {
        match self.has_ended {
            true => Ok(self.kept),
            false if self.offset == 0 => Err("empty".to_owned()),
            false => Err(format!(
                "the object does not end; {} bytes were read",
                self.offset
            )),
        }
    }

    /// Removes the offsets and lengths of the elements so far.
    pub(super) fn take_elements(&mut self) -> Vec<[u64; 2]> {
        std::mem::take(&mut self.elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str, keep: &[&str], block: usize) -> Result<String, String> {
        let mut fields = Fields::new(keep);
        for bytes in text.as_bytes().chunks(block) {
            fields.feed(bytes)?;
        }
        fields.finish().map(|kept| String::from_utf8(kept).unwrap())
    }

    #[test]
    fn the_fields_that_are_read_are_kept_at_any_block_size() {
        let text = r#" { "\u0061" : [1, {"b": "]}\"," }], "events":[{"a":"\\"}], "b":NaN, "c\"":1, "d":{"a":2},"a2":"x" } "#;
        for block in 1..text.len() {
            assert_eq!(
                kept(text, &["a", "b"], block).unwrap(),
                r#"{"a":[1,{"b":"]}\","}],"b":NaN}"#
            );
            assert_eq!(kept(text, &["x"], block).unwrap(), "{}");
            assert_eq!(
                kept(text, &["d", "a2"], block).unwrap(),
                r#"{"d":{"a":2},"a2":"x"}"#
            );
        }
    }

    #[test]
    fn elements_of_a_list_are_located() {
        let text = r#"{"x":[[1,2],3],"samples":[{"a":[1,"],"]}, {"b":2} ,7],"y":[1]}"#;
        let mut fields = Fields::new(&["y"]).with_list("samples");
        text.bytes().for_each(|byte| fields.feed(&[byte]).unwrap());
        let of = |[start, length]: [u64; 2]| &text[start as usize..(start + length) as usize];
        let elements: Vec<_> = fields.take_elements().into_iter().map(of).collect();
        assert_eq!(elements, [r#"{"a":[1,"],"]}"#, r#"{"b":2} "#, "7"]);
        assert_eq!(fields.finish().unwrap(), br#"{"y":[1]}"#);
    }

    #[test]
    fn what_is_not_one_whole_object_is_an_error() {
        for (text, expected) in [
            ("", "empty"),
            ("[1]", "expected an object"),
            (r#"{"a":1"#, "the object does not end; 6 bytes were read"),
            ("{}{}", "expected one object, found more after it"),
        ] {
            assert_eq!(kept(text, &["a"], 3).unwrap_err(), expected);
        }
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_KEPT));
        assert!(
            kept(&long, &["a"], 1 << 16)
                .unwrap_err()
                .starts_with("longer than")
        );
        assert_eq!(kept(&long, &["b"], 1 << 16).unwrap(), "{}");
    }
}
