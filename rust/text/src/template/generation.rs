//! `{% generation %}` … `{% endgeneration %}`: what the block writes is what the assistant said.
//!
//! minijinja has no custom statements. The tags become a filter block, which minijinja knows; the
//! filter wraps what the block wrote in two marks, and the marks are taken out of the result again.

use minijinja::{Error, ErrorKind, State};

pub const FILTER: &str = "lockstep_generation";
/// Not an identifier, so that no template can read or write it.
pub const MARKS_VARIABLE: &str = "generation marks";

/// Bytes of the rendered text, [begin, end).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub begin: usize,
    pub end: usize,
}

/// Two characters that stand before and after what a block wrote.
#[derive(Clone, Copy)]
pub struct Marks {
    open: char,
    close: char,
}

impl Marks {
    /// Private-use characters that none of the texts holds, so that nothing can be mistaken for one.
    pub fn absent_from(texts: &[&str]) -> Result<Self, String> {
        let mut free = ('\u{F0000}'..='\u{FFFFD}').filter(|&mark| !texts.iter().any(|text| text.contains(mark)));
        match (free.next(), free.next()) {
            (Some(open), Some(close)) => Ok(Self { open, close }),
            _ => Err("the messages use up a whole plane of private-use characters".to_owned()),
        }
    }

    /// The text without marks, and the spans between them; of nested blocks the outermost.
    pub fn take_out(&self, marked: &str) -> (String, Vec<Span>) {
        let mut text = String::with_capacity(marked.len());
        let mut spans = Vec::new();
        let mut depth = 0;
        let mut begin = 0;
        for character in marked.chars() {
            if character == self.open {
                if depth == 0 {
                    begin = text.len();
                }
                depth += 1;
            } else if character == self.close {
                depth -= 1;
                if depth == 0 && text.len() > begin {
                    spans.push(Span { begin, end: text.len() });
                }
            } else {
                text.push(character);
            }
        }
        (text, spans)
    }
}

impl std::fmt::Display for Marks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}", self.open, self.close)
    }
}

/// The filter: `written` between this rendering's marks.
pub fn mark(state: &State, written: String) -> Result<String, Error> {
    let marks = state.lookup(MARKS_VARIABLE);
    let mut marks = marks.as_ref().and_then(|marks| marks.as_str()).unwrap_or_default().chars();
    match (marks.next(), marks.next()) {
        (Some(open), Some(close)) => Ok(format!("{open}{written}{close}")),
        _ => Err(Error::new(ErrorKind::InvalidOperation, "generation block without marks")),
    }
}

/// Replaces the two tags, keeping their whitespace control and line numbers. Variables that the
/// block sets stay inside it, as in transformers: hence the `with`.
pub fn rewrite_tags(source: &str) -> String {
    let mut rewritten = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = next_opening(rest) {
        rewritten.push_str(&rest[..start]);
        rest = &rest[start..];
        let size = construct_size(rest);
        let construct = &rest[..size];
        match tag_name(construct) {
            Some((before, "generation", after)) => {
                rewritten.push_str(&format!("{{%{before} filter {FILTER} %}}{{% with {after}%}}"));
            }
            Some((before, "endgeneration", after)) => {
                rewritten.push_str(&format!("{{%{before} endwith %}}{{% endfilter {after}%}}"));
            }
            Some((_, "raw", _)) => {
                let size = size + raw_size(&rest[size..]);
                rewritten.push_str(&rest[..size]);
                rest = &rest[size..];
                continue;
            }
            _ => rewritten.push_str(construct),
        }
        rest = &rest[size..];
    }
    rewritten.push_str(rest);
    rewritten
}

fn next_opening(text: &str) -> Option<usize> {
    text.as_bytes().windows(2).position(|pair| matches!(pair, b"{%" | b"{{" | b"{#"))
}

/// Bytes of the comment, expression or tag at the start of `text`; all of it when it never closes.
fn construct_size(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes[1] == b'#' {
        return text.find("#}").map_or(text.len(), |end| end + 2);
    }
    let closing: &[u8] = if bytes[1] == b'%' { b"%}" } else { b"}}" };
    let mut quote = None;
    let mut braces = 0;
    let mut index = 2;
    while index < bytes.len() {
        match (quote, bytes[index]) {
            (Some(_), b'\\') => index += 1,
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            // {{ {'a': {}}['a'] }}: the dict's braces do not close the expression.
            (None, b'{') => braces += 1,
            (None, b'}') if braces > 0 => braces -= 1,
            (None, _) if bytes[index..].starts_with(closing) => return index + 2,
            (None, _) => {}
        }
        index += 1;
    }
    text.len()
}

/// A tag of one word, `{%- word -%}`, as (whitespace control before, word, whitespace control after).
fn tag_name(construct: &str) -> Option<(&str, &str, &str)> {
    let inside = construct.strip_prefix("{%")?.strip_suffix("%}")?;
    let without = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    let before = &inside[..inside.len() - without.len()];
    let word = without.strip_suffix(['-', '+']).unwrap_or(without);
    let after = &without[word.len()..];
    Some((before, word.trim(), after))
}

/// Bytes up to and with the `{% endraw %}`.
fn raw_size(text: &str) -> usize {
    let mut size = 0;
    while let Some(start) = text[size..].find("{%") {
        let tag = &text[size + start..];
        let Some(end) = tag.find("%}") else { break };
        if matches!(tag_name(&tag[..end + 2]), Some((_, "endraw", _))) {
            return size + start + end + 2;
        }
        size += start + 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_keep_their_whitespace_control() {
        assert_eq!(
            rewrite_tags("a {%- generation +%} b {% endgeneration -%}"),
            "a {%- filter lockstep_generation %}{% with +%} b {% endwith %}{% endfilter -%}"
        );
    }

    #[test]
    fn what_only_looks_like_a_tag_is_left_alone() {
        for source in [
            "{# {% generation %} #}",
            "{{ '{% generation %}' }}",
            "{% raw %}{% generation %}{% endraw %}",
            "{% set generation = 1 %}{{ generation }}",
            "{{ {'a': {}}['a'] }}{% if x == \"%}\" %}{% endif %}",
            "{% generation",
            "{%",
            "{",
        ] {
            assert_eq!(rewrite_tags(source), source);
        }
    }

    #[test]
    fn marks_are_taken_out_and_say_where_they_were() {
        let marks = Marks { open: '<', close: '>' };
        let (text, spans) = marks.take_out("é<ab<c>>d<>");
        assert_eq!(text, "éabcd");
        assert_eq!(spans, [Span { begin: 2, end: 5 }]);
    }

    #[test]
    fn marks_avoid_the_characters_of_the_text() {
        let marks = Marks::absent_from(&["a\u{F0000}", "\u{F0002}"]).unwrap();
        assert_eq!((marks.open, marks.close), ('\u{F0001}', '\u{F0003}'));
    }
}
