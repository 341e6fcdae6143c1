//! The nesting depth of a query, computed without recursion before a recursive parser sees the
//! query.

/// The maximum nesting depth of brackets and of consecutive negations.
///
/// Strings and comments are skipped. In what looks like an IRI only opening brackets count, since
/// `?a<(1)>` may be an IRI or a comparison. The result is never less than the depth that a parser
/// finds.
pub(super) fn depth(query: &str) -> usize {
    let mut scan = Scan {
        rest: query.as_bytes(),
        open: 0,
        negations: 0,
        deepest: 0,
    };
    while let Some(&byte) = scan.rest.first() {
        scan.step(byte);
    }
    scan.deepest
}

struct Scan<'a> {
    rest: &'a [u8],
    open: usize,
    negations: usize,
    deepest: usize,
}

impl Scan<'_> {
    fn step(&mut self, byte: u8) {
        let length = match byte {
            // In a local name a backslash escapes the next character.
            b'\\' => 2,
            b'"' | b'\'' => self.string(byte),
            b'#' => self
                .rest
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .unwrap_or(usize::MAX),
            b'<' => self.iri().unwrap_or_else(|| self.quoted_triple()),
            _ => 1,
        };
        match byte {
            b'(' | b'[' | b'{' => self.open += 1,
            b')' | b']' | b'}' => self.open = self.open.saturating_sub(1),
            b'!' => self.negations += 1,
            _ => {}
        }
        if !matches!(byte, b'!' | b'#' | b' ' | b'\t' | b'\r' | b'\n') {
            self.negations = 0;
        }
        self.deepest = self.deepest.max(self.open + self.negations);
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// The length of `<` or `<<`. The `<<` of a quoted triple nests too: SPARQL 1.1 has none, but
    /// the parser recurses before it reports that.
    fn quoted_triple(&mut self) -> usize {
        let is_quoted_triple = self.rest.starts_with(b"<<");
        self.open += usize::from(is_quoted_triple);
        1 + usize::from(is_quoted_triple)
    }

    /// The length of the string literal that starts here.
    fn string(&self, quote: u8) -> usize {
        let long = self.rest.starts_with(&[quote; 3]);
        let mut at = if long { 3 } else { 1 };
        while let Some(&byte) = self.rest.get(at) {
            match byte {
                b'\\' => at += 2,
                _ if long && self.rest[at..].starts_with(&[quote; 3]) => return at + 3,
                _ if !long && byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        at
    }

    /// The length of the IRI that starts here, if an IRI may contain the characters up to `>`.
    fn iri(&mut self) -> Option<usize> {
        let is_not_iri = |&byte: &u8| {
            byte <= b' ' || matches!(byte, b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`')
        };
        let length = 1 + self.rest[1..].iter().position(is_not_iri)?;
        if self.rest[length] != b'>' {
            return None;
        }
        let (mut open, mut deepest) = (0_usize, 0);
        for byte in &self.rest[..length] {
            match byte {
                b'(' | b'[' => open += 1,
                b')' | b']' => open = open.saturating_sub(1),
                b'!' => deepest += 1,
                _ => {}
            }
            deepest = deepest.max(open);
        }
        self.deepest = self.deepest.max(self.open + deepest);
        self.open += open;
        Some(length + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_and_negations_are_counted_where_they_nest() {
        assert_eq!(depth("SELECT * WHERE { ?s ?p ?o }"), 1);
        assert_eq!(depth("SELECT * WHERE { { ?s ?p ?o } { ?s ?q (1 2) } }"), 3);
        assert_eq!(depth("ASK { FILTER(! !!?x) }"), 5);
        assert_eq!(depth(&"(".repeat(100_000)), 100_000);
        assert_eq!(depth(&"<<".repeat(1_000)), 1_000);
    }

    #[test]
    fn strings_comments_and_iris_do_not_nest() {
        assert_eq!(
            depth("ASK { ?s ?p \"((((\" , '[[' , '''(\n'((''' , \"\\\"(((\" }"),
            1
        );
        assert_eq!(depth("ASK { # (((( \n ?s ?p ?o }"), 1);
        assert_eq!(
            depth("ASK { ?s <http://a/b#(((c)> 1 }"),
            4,
            "counted, since it could be a comparison"
        );
        assert_eq!(depth("ASK { ?s <http://a/b_(c)#d> <http://a/b_(c)> }"), 2);
        assert_eq!(depth("ASK { FILTER(?a<((((1))))&&?b>2) }"), 6);
        assert_eq!(
            depth(&format!(
                "ASK {{ FILTER(?a<{}1{}>2) }}",
                "(".repeat(50),
                ")".repeat(50)
            )),
            52
        );
        assert_eq!(depth("\"))))))\" (((((("), 6);
        assert_eq!(depth("h:o\\'brien (((((("), 6);
    }
}
